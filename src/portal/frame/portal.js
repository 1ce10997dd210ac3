// Keeps the time zone of the reader, in which the pages write points of time.
const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
const [prefix, secure] = location.protocol === "https:" ? ["__Host-", "; secure"] : ["", ""];
if (zone && !document.cookie.includes(`_zone=${encodeURIComponent(zone)}`))
  document.cookie = `${prefix}_zone=${encodeURIComponent(zone)}; path=/; samesite=lax; max-age=31536000${secure}`;

// Prints the page where a button offers it; without scripts the browser's own menu does.
for (const button of document.querySelectorAll("button[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => print());
}
