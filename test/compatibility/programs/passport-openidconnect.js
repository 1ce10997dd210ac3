import express from "express";
import session from "express-session";
import passport from "passport";
import OpenIDConnectStrategy from "passport-openidconnect";

const app = express();
app.use(session({ secret: process.env.SESSION_SECRET, resave: false, saveUninitialized: false }));
app.use(passport.session());
passport.serializeUser((user, done) => done(null, user));
passport.deserializeUser((user, done) => done(null, user));

// configuration
passport.use(
  new OpenIDConnectStrategy(
    {
      issuer: process.env.ISSUER,
      authorizationURL: `${process.env.ISSUER}/oauth2/auth`,
      tokenURL: `${process.env.ISSUER}/oauth2/token`,
      userInfoURL: `${process.env.ISSUER}/oauth2/userinfo`,
      clientID: process.env.CLIENT_ID,
      clientSecret: process.env.CLIENT_SECRET,
      callbackURL: `${process.env.BASE_URL}/callback`,
      scope: "profile",
    },
    function verify(issuer, userinfo, idToken, context, idTokenText, accessToken, refreshToken, params, done) {
      done(null, { sub: idToken.id, userinfo: userinfo._json, accessToken });
    },
  ),
);
// end of configuration

app.get("/login", passport.authenticate("openidconnect"));
app.get("/callback", passport.authenticate("openidconnect", { successRedirect: "/" }));
app.get("/me", ({ user }, res) => (user ? res.json(user) : res.sendStatus(401)));
app.get("/userinfo", ({ user }, res) => res.json(user.userinfo));
app.listen(process.env.PORT, () => console.log("ready"));
