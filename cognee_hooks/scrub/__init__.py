"""Takes a leaked value out of everything that we keep, here and at the server.

Who keeps something that is not plain text cleans it: plugins by the hook ``cognee_scrub``, since
only they know their forms, and the core its journal. A walk over every file below our folders then
finds what nobody claimed. What cannot be cleaned is named, never passed over.
"""
