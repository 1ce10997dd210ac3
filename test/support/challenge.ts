/** A sign-in page without the challenge of its passkey form, which is another one each time. */
export const withoutChallenge = (html: string): string =>
  html.replaceAll(/(?<=challenge&quot;:&quot;)[^&]*|(?<=name="state" value=")[^"]*/g, "…");
