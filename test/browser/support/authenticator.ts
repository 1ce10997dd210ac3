import type { Page } from "playwright-core";

/**
 * An authenticator that says yes: the page's own device, which is offered and fills in the login page by itself, or a
 * security key, which stores nothing and waits for a button.
 */
export async function giveAuthenticator(page: Page, kind: "device" | "security key" = "device") {
  const session = await page.context().newCDPSession(page);
  await session.send("WebAuthn.enable");
  const isDevice = kind === "device";
  const { authenticatorId } = await session.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: isDevice ? "internal" : "usb",
      hasResidentKey: isDevice,
      hasUserVerification: true,
      isUserVerified: true,
    },
  });
  const listCredentials = async () => (await session.send("WebAuthn.getCredentials", { authenticatorId })).credentials;
  const answer = (enabled: boolean) =>
    session.send("WebAuthn.setAutomaticPresenceSimulation", { authenticatorId, enabled });
  return { session, authenticatorId, listCredentials, answer };
}
