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

const regions = { ".md-typeset__scrollwrap": "Table", ".md-typeset p:has(> img)": "Picture" };
const focusable = () => {
  for (const [selector, label] of Object.entries(regions)) {
    for (const region of document.querySelectorAll(`:is(${selector}):not([tabindex])`)) {
      region.tabIndex = 0;
      region.setAttribute("role", "group");
      region.setAttribute("aria-label", label);
    }
  }
};
new MutationObserver(focusable).observe(document.body, { childList: true, subtree: true });
focusable();
