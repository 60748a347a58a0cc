// Runs before the first paint, so that a remembered theme does not flash up in the other one.
// A page without storage (the person forbade it) follows the system.
"use strict";

try {
  const chosen = localStorage.getItem("cognee-hooks-theme");
  if (chosen === "light" || chosen === "dark") {
    document.documentElement.dataset.theme = chosen;
  }
} catch {
  // Nothing is remembered.
}
