// Keeps the time zone of the reader, in which the pages write points of time.
const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
const [prefix, secure] = location.protocol === "https:" ? ["__Host-", "; secure"] : ["", ""];
if (zone && !document.cookie.includes(`_zone=${encodeURIComponent(zone)}`))
  document.cookie = `${prefix}_zone=${encodeURIComponent(zone)}; path=/; samesite=lax${secure}`;

// Prints the page where a button offers it; without scripts the browser's own menu does.
for (const button of document.querySelectorAll("button[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => print());
}

// Copies the field beside a button; without scripts the field is selected and copied by hand.
for (const button of document.querySelectorAll("button[data-copy]")) {
  const said = button.textContent;
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).value);
    button.textContent = button.dataset.done;
    setTimeout(() => (button.textContent = said), 2000);
  });
}

// Ticking a box selects the radio button that it belongs to (data-of="name=value"); selecting another button unticks it.
document.addEventListener("change", ({ target }) => {
  const own = target.closest("[data-of]")?.dataset.of;
  const selected = target.type === "radio" ? `${target.name}=${target.value}` : target.checked ? own : undefined;
  if (!selected || !target.form) return;
  const [name, value] = selected.split("=");
  for (const radio of target.form.querySelectorAll(`input[type="radio"][name="${name}"]`))
    if (radio.value === value) radio.checked = true;
  for (const others of target.form.querySelectorAll(`[data-of^="${name}="]:not([data-of="${selected}"])`)) {
    for (const box of others.querySelectorAll("input[type='checkbox']")) box.checked = false;
    for (const kept of others.querySelectorAll("input[name^='kept-']")) kept.value = "";
  }
});

// On a phone the navigation and the pages of an app are rows that scroll; the present page is in sight.
for (const current of document.querySelectorAll(".pages [aria-current], .parts [aria-current]"))
  current.scrollIntoView({ block: "nearest", inline: "center" });

// Prepares tables to be shown as cards on a phone: each cell is labelled with its column. The roles keep the meaning
// that a table loses when its display changes.
function stackTables() {
  for (const table of document.querySelectorAll("main table:not(.stacked)")) {
    table.classList.add("stacked");
    table.role = "table";
    const labels = [...(table.tHead?.rows[0]?.cells ?? [])].map((cell) => cell.querySelector("a")?.firstChild ?? cell);
    for (const group of table.querySelectorAll("thead, tbody")) group.role = "rowgroup";
    for (const row of table.rows) {
      row.role = "row";
      for (const cell of row.cells) {
        cell.role = { col: "columnheader", row: "rowheader" }[cell.scope] ?? "cell";
        const isBlank = cell.childElementCount === 0 && cell.textContent.trim() === "";
        if (cell.role === "cell" && !isBlank) cell.dataset.label = labels[cell.cellIndex]?.textContent.trim() ?? "";
      }
    }
  }
}
stackTables();
new MutationObserver(stackTables).observe(document.body, { childList: true, subtree: true });
