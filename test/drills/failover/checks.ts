import { setTimeout as sleep } from "node:timers/promises";
import { until } from "../../../deploy/postgres/processes.ts";
import { openDatabase } from "../../../src/platform/database/db.ts";
import { makeBrowser } from "../../support/browser.ts";
import { askFor, passPages, type Login } from "../../support/token.ts";
import { countPending } from "../faults/compare.ts";
import { countAnswered, useSession, type Ledger } from "./load.ts";
import type { World } from "./world.ts";

export type Finding = { claim: string; faults: string[]; of: number };

type Given = {
  /** Of the primary. */
  url: string;
  /** Of the service. */
  service: string;
  world: World;
  ledger: Ledger;
  arrived: ReadonlyMap<string, string>;
};

/** Compares what was acknowledged with what the primary knows now, and what was sent with what arrived. */
export async function check(given: Given): Promise<Finding[]> {
  const { ledger } = given;
  return [
    await findLostChanges(given),
    { claim: "no refresh family is broken", faults: ledger.broken, of: countAnswered(ledger, "refresh") },
    await findLostDeliveries(given),
    await findLostTokens(given),
    await findRevivedTokens(given),
    await findRevivedSessions(given),
    await findLostPasswords(given),
    await findLostAuditLines(given),
  ];
}

async function findLostChanges({ url, ledger }: Given): Promise<Finding> {
  const db = openDatabase({ url });
  try {
    const ids = [...ledger.created, ...ledger.renamed.keys()];
    const kept = await db.prisma.person.findMany({ where: { id: { in: ids } }, select: { id: true, last: true } });
    const names = new Map(kept.map(({ id, last }) => [id, last]));
    const lost = ledger.created.filter((id) => !names.has(id));
    const old = [...ledger.renamed].filter(([id, { acknowledged, sent }]) => {
      const found = /^Name (\d+)$/.exec(names.get(id) ?? "");
      const number = found === null ? -1 : Number(found[1]);
      return number < acknowledged || number > sent;
    });
    return {
      claim: "no acknowledged change is lost",
      faults: [...lost, ...old.map(([id]) => id)],
      of: countAnswered(ledger, "change"),
    };
  } finally {
    await db.close();
  }
}

async function findLostDeliveries({ url, world, arrived }: Given): Promise<Finding> {
  const db = openDatabase({ url });
  try {
    const isSettled = async () => (await countPending(url)) === 0;
    await until("webhooks are delivered", 90, isSettled).catch(() => undefined);
    const events = await db.prisma.appEvent.findMany({
      where: { clientId: world.app.clientId, at: { gte: world.startedAt } },
      select: { id: true },
    });
    return {
      claim: "no delivery is lost",
      faults: events.map(({ id }) => id).filter((id) => !arrived.has(id)),
      of: events.length,
    };
  } finally {
    await db.close();
  }
}

/** Enough of the acknowledged to find a loss at any time, each of which is tried. */
const triedAtMost = 500;
const sample = <T>(all: readonly T[]): T[] => {
  const step = Math.max(1, Math.ceil(all.length / triedAtMost));
  return all.filter((_, index) => index % step === 0);
};

/** The status with which a token is met; a service that is busy is asked again. */
async function useToken(service: string, token: string): Promise<number> {
  for (let left = 20; ; left--) {
    const answer = await fetch(`${service}/idm/ep/v1/schools`, { headers: { authorization: `Bearer ${token}` } });
    await answer.arrayBuffer();
    if (left === 0 || (answer.status !== 429 && answer.status !== 503)) return answer.status;
    await sleep(250);
  }
}

async function findTokens(service: string, tokens: readonly string[], expected: number): Promise<string[]> {
  const faults = [];
  for (const token of tokens) {
    const status = await useToken(service, token);
    if (status !== expected) faults.push(`${status} for ${token.slice(0, 6)}`);
  }
  return faults;
}

async function findLostTokens({ service, ledger }: Given): Promise<Finding> {
  const tried = sample(ledger.accessTokens);
  const faults = await findTokens(service, tried, 200);
  return { claim: "every acknowledged access token still works", faults, of: tried.length };
}

async function findRevivedTokens({ service, ledger }: Given): Promise<Finding> {
  const tried = sample(ledger.revoked);
  const faults = await findTokens(service, tried, 401);
  return { claim: "every revoked access token is still refused", faults, of: tried.length };
}

async function findRevivedSessions({ service, world, ledger }: Given): Promise<Finding> {
  const tried = sample(ledger.loggedOut);
  const faults = [];
  for (const { cookie } of tried)
    if ((await useSession(service, world.app, cookie)) !== null)
      faults.push("a session that was logged out gave a code");
  return { claim: "every session that was logged out is still ended", faults, of: tried.length };
}

/** Whether a password is taken, also by a busy service; the page that asks for a new one comes behind it. */
async function isTaken(service: string, { app }: World, login: Login): Promise<boolean> {
  const browser = makeBrowser(service);
  const shown = await browser.open(askFor({ url: service }, app, { scopes: ["openid"] }).address);
  return !(await passPages(browser, shown, login)).html.includes("/login");
}

async function findLostPasswords({ service, world, ledger }: Given): Promise<Finding> {
  const certain = [...ledger.passwords.values()].filter(({ isUncertain }) => !isUncertain);
  const faults = [];
  for (const { username, acknowledged, previous } of certain) {
    if (!(await isTaken(service, world, { username, password: acknowledged })))
      faults.push(`the new password of ${username} is refused`);
    if (previous !== null && (await isTaken(service, world, { username, password: previous })))
      faults.push(`the password before of ${username} is taken`);
  }
  return { claim: "the last acknowledged password is taken, and not the one before", faults, of: certain.length };
}

async function findLostAuditLines({ url, ledger }: Given): Promise<Finding> {
  const times = (ids: readonly string[]) => {
    const counts = new Map<string, number>();
    for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
    return [...counts];
  };
  const expected: [action: string, counts: [personId: string, atLeast: number][]][] = [
    ["person_created", times(ledger.created)],
    ["person_updated", [...ledger.renamed].map(([id, renamed]) => [id, renamed.times])],
    ["logged_out", times(ledger.loggedOut.map(({ personId }) => personId))],
    ["credential_set", [...ledger.passwords].map(([id, password]) => [id, password.times])],
  ];
  const db = openDatabase({ url });
  try {
    const faults = [];
    for (const [action, counts] of expected) {
      const { rows } = await db.pool.query<{ id: string; lines: number }>(
        "SELECT person_id AS id, count(*)::int AS lines FROM audit WHERE action = $1 AND person_id = ANY ($2) GROUP BY 1",
        [action, counts.map(([id]) => id)],
      );
      const found = new Map(rows.map(({ id, lines }) => [id, lines]));
      for (const [id, atLeast] of counts)
        if ((found.get(id) ?? 0) < atLeast) faults.push(`${found.get(id) ?? 0} of ${atLeast} ${action} of ${id}`);
    }
    const of = expected.flatMap(([, counts]) => counts).reduce((sum, [, atLeast]) => sum + atLeast, 0);
    return { claim: "every acknowledged change, logout and password has its line in the audit log", faults, of };
  } finally {
    await db.close();
  }
}
