import type { Connection } from "./connection-form.ts";

/** A field to type at the provider, with its value. */
type Field = { name: string; value: string };
/** What is done at the provider; the text is `provider.<profile>.<step>`. */
type ProviderStep = { step: string; fields: Field[] };

const values = {
  appName: ({ redirectUri }: Connection) => new URL(redirectUri).host,
  redirectUri: ({ redirectUri }: Connection) => redirectUri,
  postLogoutRedirectUri: ({ postLogoutRedirectUri }: Connection) => postLogoutRedirectUri,
  backchannelLogoutUri: ({ backchannelLogoutUri }: Connection) => backchannelLogoutUri,
  scopes: ({ scopes }: Connection) => scopes.join(" "),
};

type Steps = readonly (readonly [step: string, ...fields: (keyof typeof values)[]])[];

const steps: Readonly<Record<Connection["profile"], Steps>> = {
  ISERV: [
    ["open"],
    ["general", "appName"],
    ["rights"],
    ["restrictions", "scopes"],
    ["application", "redirectUri", "postLogoutRedirectUri", "backchannelLogoutUri"],
    ["keep"],
  ],
  ENTRA: [
    ["open"],
    ["register", "appName", "redirectUri"],
    ["logout", "postLogoutRedirectUri"],
    ["ids"],
    ["secret"],
    ["claim"],
  ],
  GOOGLE: [["open"], ["audience", "appName"], ["client", "redirectUri"], ["keep"], ["people"]],
  OIDC: [
    ["open", "appName"],
    ["flow"],
    ["addresses", "redirectUri", "postLogoutRedirectUri", "backchannelLogoutUri"],
    ["scopes", "scopes"],
    ["keep"],
  ],
};

/** The steps at the provider, with the exact values. */
export const listProviderSteps = (connection: Connection): ProviderStep[] =>
  steps[connection.profile].map(([step, ...fields]) => ({
    step,
    fields: fields.map((name) => ({ name, value: values[name](connection) })),
  }));
