import { UserManager, WebStorageStateStore } from "oidc-client-ts";

const { ISSUER, CLIENT_ID, BASE_URL } = globalThis.settings;

// configuration
const manager = new UserManager({
  authority: ISSUER,
  client_id: CLIENT_ID,
  redirect_uri: `${BASE_URL}/callback`,
  post_logout_redirect_uri: `${BASE_URL}/`,
  scope: "openid profile offline_access",
  loadUserInfo: true,
  userStore: new WebStorageStateStore({ store: sessionStorage }),
});
// end of configuration

if (location.pathname === "/callback") await manager.signinCallback();
globalThis.app = {
  signIn: () => manager.signinRedirect(),
  async me() {
    const user = await manager.getUser();
    return user && { sub: user.profile.sub, accessToken: user.access_token };
  },
  userinfo: async () => (await manager.getUser()).profile,
  refresh: async () => ({ accessToken: (await manager.signinSilent()).access_token }),
  signOut: () => manager.signoutRedirect(),
};
