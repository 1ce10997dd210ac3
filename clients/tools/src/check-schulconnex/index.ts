import type { Report } from "../report.ts";
import { judgeAnswer } from "./answers.ts";
import { checkFilters, checkParts } from "./filters.ts";
import { makeFindings, type Verdict } from "./findings.ts";
import { checkLists, checkPerson, inspectList } from "./lists.ts";
import { checkPaging } from "./paging.ts";
import { makeSend, usualLimits, type Limits, type Send } from "./provider.ts";
import type { Version } from "./record.ts";
import { callerOf, checkErrors, checkTokens } from "./refusals.ts";
import { makeReport } from "./report.ts";
import { makeToken, type Credentials, type Token } from "./token.ts";
import type { World } from "./world.ts";

export { makeExpectationTable } from "./expectations.ts";
export type { Version } from "./record.ts";
export type { Credentials } from "./token.ts";

export type CheckSchulconnexSettings = {
  /** That of the interface: `personen-info` is below it. Without a slash at its end. */
  address: string;
  version: Version;
  credentials: Credentials;
  userToken: string | undefined;
  expiredToken: string | undefined;
  limits?: Partial<Limits>;
  tell(line: string): void;
};

export const checkSchulconnex = async (settings: CheckSchulconnexSettings, docs: string): Promise<Report> =>
  makeReport(await examine(settings), docs);

/** Checks a provider of the Schulconnex interface from outside. It only reads. */
export async function examine(settings: CheckSchulconnexSettings): Promise<Verdict[]> {
  const { address, version, credentials, userToken, expiredToken, tell } = settings;
  const findings = makeFindings();
  const samples: unknown[] = [];
  const token: Token = makeToken(credentials, findings, () => send);
  const given = userToken === undefined ? [] : [userToken];
  const send: Send = makeSend({
    address,
    limits: { ...usualLimits, ...settings.limits },
    findings,
    getAppToken: () => token.get(),
    observe: (sent, answer) => judgeAnswer(findings, sent, answer, { samples, secrets: [...token.secrets, ...given] }),
  });
  const user = userToken === undefined ? null : callerOf("with the person's token", userToken);
  const expired = expiredToken === undefined ? null : callerOf("with an expired token", expiredToken);
  const world: World = { ...findings, send, version, token, user, expired, samples };

  tell("Reading the whole list");
  const list = await findings.attempt(() => inspectList(world));
  tell("Sending requests that must be refused");
  await checkTokens(world);
  await checkErrors(world);
  if (list !== null) {
    tell("Reading the list again, and parts of it");
    await findings.attempt(() => checkLists(world, list));
    if (samples.length > 0) await findings.attempt(() => checkParts(world));
    if (samples.length > 0) await findings.attempt(() => checkFilters(world));
    tell("Reading page by page");
    await findings.attempt(() => checkPaging(world, list));
  }
  await findings.attempt(() => checkPerson(world));
  return findings.verdicts();
}
