export const bundles = ["idm", "schulconnex", "sign-on", "webhooks"];
