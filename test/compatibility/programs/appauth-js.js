import {
  AuthorizationNotifier,
  AuthorizationRequest,
  AuthorizationServiceConfiguration,
  BaseTokenRequestHandler,
  DefaultCrypto,
  FetchRequestor,
  RedirectRequestHandler,
  TokenRequest,
} from "@openid/appauth";

const { ISSUER, CLIENT_ID, BASE_URL } = globalThis.settings;

// configuration
const requestor = new FetchRequestor();
const service = await AuthorizationServiceConfiguration.fetchFromIssuer(ISSUER, requestor);
const handler = new RedirectRequestHandler();
const tokens = new BaseTokenRequestHandler(requestor);
const client = { client_id: CLIENT_ID, redirect_uri: `${BASE_URL}/callback` };
const scope = "openid profile offline_access";
// AppAuth looks for the response in the fragment.
const extras = { response_mode: "fragment" };
// end of configuration

const stored = "appauth-tokens";
const read = () => JSON.parse(sessionStorage.getItem(stored));
const request = async (of) => {
  const response = await tokens.performTokenRequest(service, new TokenRequest({ ...client, ...of }));
  sessionStorage.setItem(stored, JSON.stringify({ ...read(), ...response.toJson() }));
};

const notifier = new AuthorizationNotifier();
handler.setAuthorizationNotifier(notifier);
let answer;
notifier.setAuthorizationListener((asked, response) => (answer = { asked, response }));
await handler.completeAuthorizationRequestIfPossible();
if (answer?.response) {
  const { code_verifier } = answer.asked.internal;
  await request({ grant_type: "authorization_code", code: answer.response.code, extras: { code_verifier } });
}

globalThis.app = {
  signIn() {
    const wish = { ...client, scope, extras, response_type: AuthorizationRequest.RESPONSE_TYPE_CODE };
    handler.performAuthorizationRequest(service, new AuthorizationRequest(wish, new DefaultCrypto(), true));
  },
  // AppAuth hands the ID token on without reading it.
  me() {
    const user = read();
    return user && { sub: JSON.parse(atob(user.id_token.split(".")[1])).sub, accessToken: user.access_token };
  },
  async refresh() {
    await request({ grant_type: "refresh_token", refresh_token: read().refresh_token });
    return { accessToken: read().access_token };
  },
};
