// Shows the forms that ask the browser for a passkey, and sends what it answers.
const { browserSupportsWebAuthn, startAuthentication, startRegistration } = globalThis.SimpleWebAuthnBrowser;

function serve(part) {
  const form = part.querySelector("form");
  const failed = part.querySelector("[data-failed]");
  const start = form.dataset.ceremony === "add" ? startRegistration : startAuthentication;
  part.hidden = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    failed.hidden = true;
    try {
      const answer = await start({ optionsJSON: JSON.parse(form.dataset.options) });
      form.elements.passkey.value = JSON.stringify(answer);
      form.submit();
    } catch {
      failed.hidden = false;
      failed.focus();
    }
  });
}

if (browserSupportsWebAuthn()) document.querySelectorAll("[data-passkey]").forEach(serve);
