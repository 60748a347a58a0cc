"""What authors of plugins and agents test their work with."""
