// Shows the forms that ask the browser for a passkey, and sends what it answers.
const {
  browserSupportsWebAuthn,
  browserSupportsWebAuthnAutofill,
  platformAuthenticatorIsAvailable,
  startAuthentication,
  startRegistration,
} = globalThis.SimpleWebAuthnBrowser;

const readOptions = (form) => JSON.parse(form.dataset.options);

function send(form, answer) {
  form.elements.passkey.value = JSON.stringify(answer);
  for (const name of ["shared", "stay"])
    if (form.elements[name] && document.getElementById(name)?.checked) form.elements[name].value = "yes";
  form.submit();
}

// The browser lists passkeys where it lists user names. Pressing a button ends the list.
async function fillIn(form) {
  if (!(await browserSupportsWebAuthnAutofill())) return;
  try {
    send(form, await startAuthentication({ optionsJSON: readOptions(form), useBrowserAutofill: true }));
  } catch {
    // Nobody chose a passkey.
  }
}

function serve(part) {
  const form = part.querySelector("form");
  const failed = part.querySelector("[data-failed]");
  const start = form.dataset.ceremony === "add" ? startRegistration : startAuthentication;
  part.hidden = false;
  if ("autofill" in form.dataset) fillIn(form);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    failed.hidden = true;
    try {
      send(form, await start({ optionsJSON: readOptions(form) }));
    } catch {
      failed.hidden = false;
      failed.focus();
      if ("autofill" in form.dataset) fillIn(form);
    }
  });
}

// A password form says whether this device can have a passkey of its own.
async function tell(field) {
  if (await platformAuthenticatorIsAvailable()) field.value = "yes";
}

if (browserSupportsWebAuthn()) {
  document.querySelectorAll("[data-passkey]").forEach(serve);
  document.querySelectorAll("input[name=passkeys]").forEach(tell);
}
