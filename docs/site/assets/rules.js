// On the list of rules: a field that keeps the rules whose code, name, severity or summary has every word typed.
const list = document.querySelector("h1#rules");
if (list) {
  const label = document.createElement("label");
  label.className = "rule-filter";
  label.textContent = "Filter rules";
  const field = document.createElement("input");
  field.type = "search";
  field.placeholder = "watchdog error";
  const count = document.createElement("output");
  label.append(field, count);
  list.after(label);
  const tables = [...document.querySelectorAll("article table")];
  const apply = () => {
    const words = field.value.toLowerCase().split(/\s+/);
    let shown = 0;
    for (const table of tables) {
      let kept = 0;
      for (const row of table.tBodies[0].rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
        kept += row.hidden ? 0 : 1;
      }
      const block = table.closest(".md-typeset__scrollwrap") || table;
      block.hidden = kept === 0;
      let heading = block.previousElementSibling;
      while (heading && heading.tagName !== "H2") heading = heading.previousElementSibling;
      if (heading) heading.hidden = kept === 0;
      shown += kept;
    }
    count.textContent = field.value ? `${shown} rules` : "";
  };
  field.addEventListener("input", apply);
}
