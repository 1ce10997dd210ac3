import { makeAuthenticator, type Authenticator, type Told } from "./authenticator.ts";
import { makeBrowser, readForm, type Browser, type Shown } from "./browser.ts";
import { setUpPath } from "./second-factor.ts";
import type { TestService } from "./service.ts";
import type { Login } from "./token.ts";

/** The options of the page's form that asks for a passkey. */
export const optionsOf = ({ html }: Pick<Shown, "html">): { challenge: string } =>
  JSON.parse(/data-options="([^"]*)"/.exec(html)![1]!.replaceAll("&quot;", '"')) as { challenge: string };

export const stateOf = ({ html }: Pick<Shown, "html">): string => /name="state" value="([^"]*)"/.exec(html)![1]!;

/** An authenticator with a passkey for the login, made on the page of second factors. */
export async function makePasskey(
  { url }: TestService,
  login: Login,
  { browser = makeBrowser(url), isAsked = false }: { browser?: Browser; isAsked?: boolean } = {},
): Promise<Authenticator> {
  const authenticator = makeAuthenticator({ origin: url, rpId: "localhost" });
  await browser.submit(await browser.open("/sign-in"), "/sign-in", login);
  const page = await browser.open(`${setUpPath}/passkey`);
  const passkey = JSON.stringify(authenticator.register(optionsOf(page)));
  await browser.submit(page, "/passkey", { passkey, ...(isAsked && { asked: "yes" }) });
  return authenticator;
}

/** Answers the form of a login page that asks for a passkey. `fields` replace those of the form. */
export function useBy(
  browser: Browser,
  page: Shown,
  authenticator: Pick<Authenticator, "prove">,
  told: Told & { fields?: Record<string, string> } = {},
): Promise<Shown> {
  const { fields, ...rest } = told;
  const passkey = JSON.stringify(authenticator.prove(optionsOf(page), rest));
  const step = new URL(readForm(page, "").action, page.url).pathname;
  return browser.submit(page, step, { passkey, state: stateOf(page), ...fields });
}
