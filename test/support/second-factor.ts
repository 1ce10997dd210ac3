import { Secret, TOTP } from "otpauth";
import type { Browser, Shown } from "./browser.ts";
import type { TestClock } from "./service.ts";

export const setUpPath = "/sign-in/second-factor";
export const confirmPath = "/sign-in/confirm";

/** The code that an app on a phone shows at a time. */
export const totpCode = (secret: string, at: Date): string =>
  new TOTP({ secret: Secret.fromBase32(secret.replaceAll(" ", "")) }).generate({ timestamp: at.getTime() });

export const readSecret = ({ html }: Shown): string => {
  const [, secret] = /<code>([A-Z2-7 ]{32,})<\/code>/.exec(html) ?? [];
  if (secret === undefined) throw new Error("the page shows no secret");
  return secret;
};

export const readRecoveryCodes = ({ html }: Shown): string[] =>
  [...html.matchAll(/<li><code>([a-z2-9-]+)<\/code>/g)].map(([, code]) => code!);

/** Sets up an authenticator app in a browser that is signed in. Shape: the page that follows. */
export async function setUpTotp(
  browser: Browser,
  clock: TestClock,
  { label = "Telefon", next = "" }: { label?: string; next?: string } = {},
): Promise<{ secret: string; shown: Shown }> {
  const page = await browser.open(`${setUpPath}/totp${next && `?return=${encodeURIComponent(next)}`}`);
  const secret = readSecret(page);
  const shown = await browser.submit(page, "/totp", { code: totpCode(secret, clock()), label });
  return { secret, shown };
}
