import { betterAuth } from "better-auth";
import { fromNodeHeaders, toNodeHandler } from "better-auth/node";
import { genericOAuth } from "better-auth/plugins";
import express from "express";

// configuration
const auth = betterAuth({
  baseURL: process.env.BASE_URL,
  secret: process.env.SESSION_SECRET,
  plugins: [
    genericOAuth({
      config: [
        {
          providerId: "schultor",
          discoveryUrl: `${process.env.ISSUER}/.well-known/openid-configuration`,
          clientId: process.env.CLIENT_ID,
          clientSecret: process.env.CLIENT_SECRET,
          tokenEndpointAuth: { method: "client_secret_basic" },
          scopes: ["openid", "profile", "offline_access"],
          // better-auth insists on an email address, which the service does not give.
          mapProfileToUser: ({ sub, given_name, family_name }) => ({
            name: `${given_name} ${family_name}`,
            email: `${sub}@schultor.invalid`,
          }),
        },
      ],
    }),
  ],
});
// end of configuration

const app = express();
app.all("/api/auth/*splat", toNodeHandler(auth));

/** Calls the API for the browser of the request, and hands on the cookies of the answer. */
async function call(name, body, req, res) {
  const headers = fromNodeHeaders(req.headers);
  const answer = await auth.api[name]({ body, headers, returnHeaders: true });
  for (const cookie of answer.headers.getSetCookie()) res.append("set-cookie", cookie);
  return answer.response;
}
const findAccount = async (req, res) => (await call("listUserAccounts", undefined, req, res))[0];

app.get("/login", async (req, res) => {
  const { url } = await call("signInSocial", { provider: "schultor", callbackURL: "/" }, req, res);
  res.redirect(url);
});
app.get("/me", async (req, res) => {
  if (!(await call("getSession", undefined, req, res))) return res.sendStatus(401);
  const account = await findAccount(req, res);
  const { accessToken } = await call("getAccessToken", { accountId: account.id }, req, res);
  res.json({ sub: account.accountId, accessToken });
});
app.get("/userinfo", async (req, res) => {
  const account = await findAccount(req, res);
  const headers = fromNodeHeaders(req.headers);
  res.json((await auth.api.accountInfo({ query: { accountId: account.id }, headers })).data);
});
app.get("/refresh", async (req, res) => {
  const account = await findAccount(req, res);
  const { accessToken } = await call("refreshToken", { accountId: account.id }, req, res);
  res.json({ accessToken });
});
app.get("/logout", async (req, res) => {
  const { url } = await call("signOut", { callbackURL: "/" }, req, res);
  res.redirect(url);
});
app.listen(process.env.PORT, () => console.log("ready"));
