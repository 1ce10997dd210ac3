import express from "express";
import openid from "express-openid-connect";
import session from "express-session";

const { auth } = openid;
const app = express();

// configuration
app.use(
  auth({
    issuerBaseURL: process.env.ISSUER,
    baseURL: process.env.BASE_URL,
    clientID: process.env.CLIENT_ID,
    clientSecret: process.env.CLIENT_SECRET,
    secret: process.env.SESSION_SECRET,
    authorizationParams: { response_type: "code", scope: "openid profile offline_access" },
    authRequired: false,
    idpLogout: true,
    backchannelLogout: { store: new session.MemoryStore() },
  }),
);
// end of configuration

app.get("/me", ({ oidc }, res) =>
  oidc.isAuthenticated()
    ? res.json({ sub: oidc.user.sub, accessToken: oidc.accessToken.access_token })
    : res.sendStatus(401),
);
app.get("/userinfo", async ({ oidc }, res) => res.json(await oidc.fetchUserInfo()));
app.get("/refresh", async ({ oidc }, res) => {
  const { access_token: accessToken } = await oidc.accessToken.refresh();
  res.json({ accessToken });
});
app.listen(process.env.PORT, () => console.log("ready"));
