// Counts down to the turn of the person and then sends the form. Without it they press the button.
const part = document.querySelector("[data-turn]");
const left = part.querySelector("[data-left]");
const turn = performance.now() + Number(part.dataset.turn) * 1000;

for (const element of part.querySelectorAll("[data-by-hand]")) element.remove();
part.querySelector("[data-alone]").hidden = false;

const count = setInterval(() => {
  const seconds = Math.max(0, Math.ceil((turn - performance.now()) / 1000));
  if (left.textContent !== String(seconds)) left.textContent = String(seconds);
  if (seconds > 0) return;
  clearInterval(count);
  const now = part.querySelector("[data-now]");
  now.textContent = now.dataset.text;
  part.querySelector("form").submit();
}, 200);
