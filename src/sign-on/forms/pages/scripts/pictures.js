// Collects the pictures that are tapped and posts all three at once. Without it, each tap posts the page.
const form = document.querySelector("[data-pictures]");
const tapped = form.querySelector("[name=tapped]");
const marks = form.querySelector(".marks");
const status = form.querySelector("[data-texts]");
const texts = JSON.parse(status.dataset.texts);
let isSent = false;

const markOf = (name) => {
  if (name === undefined) return "○";
  return form.dataset.pictures === "choose" ? form.querySelector(`[value=${name}] .emoji`).textContent : "●";
};

function show(names) {
  tapped.value = names.join(" ");
  marks.textContent = texts.map((_, at) => markOf(names[at])).join(" ");
  status.textContent = texts[names.length];
}

form.addEventListener("submit", (event) => {
  const names = tapped.value.split(" ").filter(Boolean);
  const { name, value } = event.submitter;
  const next = name === "back" ? names.slice(0, -1) : [...names, value];
  if (isSent || next.length < texts.length) event.preventDefault();
  if (next.length < texts.length) show(next);
  else isSent = true;
});

// A page that comes back from the browser's memory begins anew.
addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  isSent = false;
  show([]);
});
