import Keycloak from "keycloak-js";

const { ISSUER, CLIENT_ID, BASE_URL } = globalThis.settings;

// configuration
const keycloak = new Keycloak({ oidcProvider: ISSUER, clientId: CLIENT_ID });
await keycloak.init({
  redirectUri: `${BASE_URL}/callback`,
  scope: "profile offline_access",
  checkLoginIframe: false,
});
// end of configuration

globalThis.app = {
  signIn: () => keycloak.login(),
  me: () => (keycloak.authenticated ? { sub: keycloak.idTokenParsed.sub, accessToken: keycloak.token } : null),
  userinfo: () => keycloak.loadUserInfo(),
  async refresh() {
    await keycloak.updateToken(-1);
    return { accessToken: keycloak.token };
  },
  signOut: () => keycloak.logout({ redirectUri: `${BASE_URL}/` }),
};
