import { ExpressAuth, getSession } from "@auth/express";
import express from "express";

const app = express();

// configuration
const config = {
  secret: process.env.SESSION_SECRET,
  trustHost: true,
  providers: [
    {
      id: "schultor",
      name: "Schultor",
      type: "oidc",
      issuer: process.env.ISSUER,
      clientId: process.env.CLIENT_ID,
      clientSecret: process.env.CLIENT_SECRET,
      authorization: { params: { scope: "openid profile" } },
      // The profile is read from userinfo.
      idToken: false,
      profile: ({ sub, given_name, family_name }) => ({ id: sub, name: `${given_name} ${family_name}` }),
    },
  ],
  callbacks: {
    jwt: ({ token, profile }) => (profile ? { ...token, userinfo: profile } : token),
    session: ({ session, token }) => ({ ...session, userinfo: token.userinfo }),
  },
};
app.use("/auth", ExpressAuth(config));
// end of configuration

app.get("/me", async (req, res) => {
  const session = await getSession(req, config);
  if (session) res.json({ sub: session.userinfo.sub });
  else res.sendStatus(401);
});
app.get("/userinfo", async (req, res) => res.json((await getSession(req, config)).userinfo));
app.listen(process.env.PORT, () => console.log("ready"));
