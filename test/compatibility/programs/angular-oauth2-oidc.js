import "@angular/compiler";
import { provideHttpClient } from "@angular/common/http";
import { provideZonelessChangeDetection } from "@angular/core";
import { createApplication } from "@angular/platform-browser";
import { OAuthService, provideOAuthClient } from "angular-oauth2-oidc";

const { ISSUER, CLIENT_ID, BASE_URL } = globalThis.settings;

// configuration
const authConfig = {
  issuer: ISSUER,
  clientId: CLIENT_ID,
  redirectUri: `${BASE_URL}/callback`,
  postLogoutRedirectUri: `${BASE_URL}/`,
  responseType: "code",
  scope: "openid profile offline_access",
  // Only for a service on this machine.
  requireHttps: !ISSUER.startsWith("http:"),
};
const { injector } = await createApplication({
  providers: [provideHttpClient(), provideOAuthClient(), provideZonelessChangeDetection()],
});
const oauth = injector.get(OAuthService);
oauth.configure(authConfig);
await oauth.loadDiscoveryDocumentAndTryLogin();
// end of configuration

globalThis.app = {
  signIn: () => oauth.initCodeFlow(),
  me: () =>
    oauth.hasValidAccessToken() ? { sub: oauth.getIdentityClaims().sub, accessToken: oauth.getAccessToken() } : null,
  userinfo: async () => (await oauth.loadUserProfile()).info,
  refresh: async () => ({ accessToken: (await oauth.refreshToken()).access_token }),
  signOut: () => oauth.logOut(),
};
