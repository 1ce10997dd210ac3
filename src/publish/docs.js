// What the pages can do beyond reading; each works without this script.

for (const snippet of document.querySelectorAll(".snippet")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(snippet.querySelector("code").textContent);
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
  snippet.prepend(button);
}

// A language that was chosen once is chosen everywhere it exists.
const choose = (language) => {
  for (const input of document.querySelectorAll(".tabs input")) if (input.value === language) input.checked = true;
};
choose(localStorage.getItem("language"));
document.addEventListener("change", ({ target }) => {
  if (!target.matches(".tabs input")) return;
  localStorage.setItem("language", target.value);
  const top = target.getBoundingClientRect().top;
  choose(target.value);
  scrollBy(0, target.getBoundingClientRect().top - top);
});
