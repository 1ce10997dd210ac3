// Collects the pictures that are tapped and posts all three at once. Without it, each tap posts the page.
const form = document.querySelector("[data-pictures]");
const tapped = form.querySelector("[name=tapped]");
const marks = form.querySelectorAll(".marks > span");
const status = form.querySelector("[data-texts]");
const texts = JSON.parse(status.dataset.texts);
let isSent = false;

const emojiOf = (name) =>
  form.dataset.pictures === "choose" ? form.querySelector(`[value=${name}] .emoji`).textContent : "";

function show(names) {
  tapped.value = names.join(" ");
  marks.forEach((mark, at) => {
    mark.classList.toggle("tapped", at < names.length);
    mark.textContent = at < names.length ? emojiOf(names[at]) : "";
  });
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
