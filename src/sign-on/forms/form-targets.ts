type Registered = {
  redirectUris?: readonly string[] | undefined;
  postLogoutRedirectUris?: readonly string[] | undefined;
};

type Way = {
  issuerUrl: string;
  /** The redirect URI of the request. */
  to?: string | undefined;
  app?: Registered | undefined;
};

/**
 * Lets the form of a page lead to an app, or to the login of a school. Every page whose form may lead there needs it.
 *
 * Browsers apply form-action to every redirect after a form. Apps and logins redirect to other origins of theirs, so
 * only the schemes are known: https, in development http, and what the app has registered.
 */
export function formTargetsOf({ issuerUrl, to, app }: Way): string[] {
  const registered = [...(app?.redirectUris ?? []), ...(app?.postLogoutRedirectUris ?? [])];
  const addresses = [issuerUrl, ...(to === undefined ? [] : [to]), ...registered.filter((uri) => !/^http:/i.test(uri))];
  return ["https:", ...addresses.map((address) => new URL(address).protocol)];
}
