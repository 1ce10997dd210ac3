import { readFile } from "node:fs/promises";
import type { Credentials, Version } from "../../clients/tools/src/check-schulconnex/index.ts";
import { makeOwnCommand, type OwnTools } from "./command.ts";
import { argument, option, UsageError } from "./option.ts";
import { readSecret } from "./remote-login.ts";
import { readAddress } from "./remote/discovery.ts";

const versions: readonly Version[] = ["1.4", "1.5", "1.6", "1.7", "1.8"];
const defaultDocs = "http://localhost:3000/docs";

async function readToken(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  const token = (await readFile(file, "utf8")).trim();
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new UsageError(`${file} does not hold a token.`);
}

const methods = ["client_secret_basic", "client_secret_post"] as const;

type CredentialOptions = {
  tokenFile?: string | undefined;
  clientId?: string | undefined;
  secretFile?: string | undefined;
  tokenUrl?: string | undefined;
  scope?: string | undefined;
  authMethod?: (typeof methods)[number] | undefined;
};

async function readCredentials(tools: OwnTools, options: CredentialOptions): Promise<Credentials> {
  const { tokenFile, clientId, secretFile, tokenUrl, scope, authMethod } = options;
  const token = await readToken(tokenFile);
  if (token !== undefined && clientId !== undefined)
    throw new UsageError("Give --token-file or --client-id, not both.");
  if (token !== undefined) return { token };
  if (clientId === undefined || tokenUrl === undefined)
    throw new UsageError("Give --client-id and --token-url, or --token-file.");
  const clientSecret = await readSecret(tools, secretFile);
  return { tokenUrl, clientId, clientSecret, scope, isPosted: authMethod === "client_secret_post" };
}

export const checkSchulconnex = makeOwnCommand({
  summary:
    "Check a provider of the Schulconnex interface (personen-info) from outside: tokens, records, codes, filters, paging and errors. It only reads. Ends with 1 where something differs.",
  args: { address: argument.text() },
  options: {
    standard: option.oneOf(versions, "The version of the standard to compare with; 1.7 if left out."),
    clientId: option.text("The client id of an app, whose secret is asked for.", "client-id"),
    secretFile: option.text("A file with its secret; /dev/stdin for what is piped.", "path"),
    tokenUrl: option.checked("The token endpoint.", "url", readAddress),
    authMethod: option.oneOf(methods, "How the app sends its secret; client_secret_basic if left out."),
    scope: option.text("The scope to ask for; none if left out."),
    tokenFile: option.text("A file with a token of the app, in place of its credentials.", "path"),
    userTokenFile: option.text("A file with the access token of a person, to check person-info.", "path"),
    expiredTokenFile: option.text("A file with a token that has expired, to check how it is refused.", "path"),
    docs: option.text(`Where the documentation is; ${defaultDocs} if left out.`, "url"),
  },
  run: async (tools, { args, options }) => {
    const { standard = "1.7", docs = defaultDocs, userTokenFile, expiredTokenFile } = options;
    const address = readAddress(args.address);
    const credentials = await readCredentials(tools, options);
    const [userToken, expiredToken] = [await readToken(userTokenFile), await readToken(expiredTokenFile)];
    const { checkSchulconnex: check } = await import("../../clients/tools/src/check-schulconnex/index.ts");
    const settings = { address, version: standard, credentials, userToken, expiredToken, tell: tools.tell };
    return check(settings, docs.replace(/\/+$/, ""));
  },
});
