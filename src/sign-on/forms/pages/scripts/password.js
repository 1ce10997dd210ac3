// Lets a person see the password that they type, and says when caps lock is on. Without it the page works the same.
for (const part of document.querySelectorAll("[data-password]")) {
  const field = part.querySelector("input");
  const button = part.querySelector("button");
  const caps = part.querySelector("[data-caps]");

  const show = (isShown) => {
    field.type = isShown ? "text" : "password";
    button.textContent = isShown ? button.dataset.hide : button.dataset.show;
    button.setAttribute("aria-label", isShown ? button.dataset.hideLabel : button.dataset.showLabel);
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    show(field.type === "password");
    field.focus();
  });
  // Browsers offer to keep a password only if its field hides it.
  field.form.addEventListener("submit", () => show(false));

  const watch = (event) => {
    const isOn = event.getModifierState?.("CapsLock") === true;
    const text = isOn ? caps.dataset.caps : "";
    if (caps.textContent !== text) caps.textContent = text;
  };
  for (const name of ["keydown", "keyup", "mousedown"]) field.addEventListener(name, watch);
}
