// What the theme leaves to the mouse: its labels that act as buttons, and regions that scroll, for the keyboard.
for (const label of document.querySelectorAll("label[for^='__'][aria-label]")) {
  label.setAttribute("role", "button");
  label.tabIndex = 0;
  label.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    label.click();
  });
}

const focusable = () => {
  for (const region of document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])")) {
    region.tabIndex = 0;
    region.setAttribute("role", "group");
    region.setAttribute("aria-label", "Table");
  }
};
new MutationObserver(focusable).observe(document.body, { childList: true, subtree: true });
focusable();
