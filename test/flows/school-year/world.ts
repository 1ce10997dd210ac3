import {
  createClient,
  makeMemoryStore,
  makeSync,
  type Client,
  type MemoryStore,
  type Sync,
} from "../../../clients/typescript/src/index.ts";
import { expect } from "vitest";
import { changeDirectory, scopeToWire } from "../../../src/access/index.ts";
import type { Change, GroupId, PersonId, SchoolId } from "../../../src/directory/index.ts";
import { applyImport, previewImport, type NewImport } from "../../../src/imports/index.ts";
import { listEndpoints } from "../../../src/webhooks/index.ts";
import { registerEndpoint } from "../../support/webhook-changes.ts";
import { readConfig } from "../../../src/config/index.ts";
import { rules, writeRoster } from "../../imports/rosters.ts";
import { idmScopes } from "../../support/api.ts";
import { chanceOf } from "../../support/chance.ts";
import { makeMakers } from "../../support/make.ts";
import { atFileEnd } from "../../support/file-end.ts";
import type { Received } from "../../support/receiver.ts";
import { makeTestClock, startService, type TestService } from "../../support/service.ts";
import { getUserTokens, giveLogin } from "../../support/token.ts";
import { inside } from "../../support/webhooks.ts";
import { serve } from "../../support/serve.ts";
import { makeListener } from "./listener.ts";
import { startLine, troubles, type Line, type Trouble } from "./line.ts";

/**
 * `all` is synced everything and lets everybody in, `one` is synced some groups of one school, `login` only signs
 * people in.
 */
export const partnerNames = ["all", "one", "login"] as const;
export type PartnerName = (typeof partnerNames)[number];

/** A copy, and what keeps it. */
type Copy = { sync: Sync; records: MemoryStore };

/** An app with all that it has; `told` is kept by webhooks alone, what the followers have by the change feed. */
export type Partner = {
  name: PartnerName;
  app: Awaited<ReturnType<ReturnType<typeof makeMakers>["app"]>>;
  client: Client;
  line: Line;
  told: Copy;
  follower: Copy | null;
  /** Begins when the other one does, and then looks away. */
  sleeper: Copy | null;
  signedIn: Set<string>;
};

export type World = Awaited<ReturnType<typeof startWorld>>;

/** The service, its clock, and three partners who know nothing of it but its contract. */
export async function startWorld({ start, seed }: { start: string; seed: number }) {
  const clock = makeTestClock(start);
  const service = await startService({
    clock,
    env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true", WEBHOOK_TIMEOUT_SECONDS: "1" },
  });
  const names = new Map<string, string>();
  const origin = () => ({ at: clock(), actorId: "school" });
  let step = "";
  const partners = {} as Record<PartnerName, Partner>;
  for (const name of partnerNames) {
    const choose = ({ body }: Received, attempt: number) =>
      chooseTrouble(chanceOf(seed, name, step, nameSubject(names, JSON.parse(body) as object), attempt), attempt);
    partners[name] = await startPartner(service, name, choose);
  }

  const find = <Id extends string>(name: string): Id => {
    const found = [...names].filter(([, one]) => one === name).map(([id]) => id as Id);
    if (found.length !== 1) throw new Error(`${found.length} are called ${name}`);
    return found[0]!;
  };
  const { runJob } = service;
  const settled = () => Promise.all(partnerNames.map((name) => partners[name].told.sync.settled()));

  /** Carries every event to its receivers, over all tries that it needs. */
  async function settle(what: string): Promise<void> {
    step = what;
    await readNames(service, names);
    await runJob("webhooks.fanOut");
    for (let pending = 1; pending > 0; clock.forwardSeconds(400)) {
      await runJob("webhooks.deliver");
      pending = (await listEndpoints(service.db)).reduce((sum, endpoint) => sum + endpoint.pending, 0);
    }
    await settled();
  }

  async function importRoster(schoolId: SchoolId, roster: string, wishes: Partial<NewImport> = {}): Promise<void> {
    const { id, state } = await previewImport(
      service.db,
      { path: await writeRoster(roster), schoolId, holdShare: rules.holdShare, ...wishes },
      origin(),
    );
    if (state !== "READY") throw new Error(`the roster is ${state}`);
    await applyImport(service.db, id, rules, origin());
    await readNames(service, names);
  }

  async function signIn(name: PartnerName, person: string): Promise<void> {
    const personId = find<PersonId>(`person ${person}`);
    await getUserTokens(service, partners[name].app, await giveLogin(service.db, personId));
    partners[name].signedIn.add(personId);
  }

  /**
   * Lets everybody begin to follow the feed; `meanwhile` happens after the first one took its place and before it
   * reads.
   */
  async function beginToFollow(meanwhile: () => Promise<unknown>): Promise<void> {
    let isFirst = true;
    const beginOne = async ({ client }: Partner): Promise<Copy> => {
      const listSchools: Client["listSchools"] = async function* (options) {
        if (isFirst) await meanwhile();
        isFirst = false;
        yield* client.listSchools(options);
      };
      const copy = makeCopy({ ...client, listSchools });
      expect(await copy.sync.follow()).toEqual({ hasLoaded: true });
      return copy;
    };
    for (const name of partnerNames)
      Object.assign(partners[name], {
        follower: await beginOne(partners[name]),
        sleeper: await beginOne(partners[name]),
      });
  }

  return {
    service,
    clock,
    partners,
    names,
    everybody: (): string[] => [...names].filter(([, name]) => name.startsWith("person ")).map(([id]) => id),
    settle,
    importRoster,
    signIn,
    beginToFollow,
    make: makeMakers(service.db, clock()),
    change: <T>(work: (it: Change) => Promise<T>): Promise<T> => changeDirectory(service.db, origin(), work),
    person: (name: string) => find<PersonId>(`person ${name}`),
    group: (name: string) => find<GroupId>(`group ${name}`),
    school: (name: string) => find<SchoolId>(`school ${name}`),
  };
}

async function startPartner(
  service: TestService,
  name: PartnerName,
  choose: (call: Received, attempt: number) => Trouble,
): Promise<Partner> {
  const app = await makeMakers(service.db, service.clock()).app();
  const scopes = idmScopes.map((one) => scopeToWire("schultor", one));
  const client = createClient({
    issuer: service.url,
    clientId: app.clientId,
    clientSecret: app.clientSecret!,
    scopes,
  });
  const told = makeCopy(client);
  const target = { url: "", secret: "" };
  const line = await startLine(target, choose);
  const { encryptionKeys: keys } = readConfig({ NODE_ENV: "test" });
  const wish = { clientId: app.clientId, url: line.url, eventTypes: ["person", "group", "school"] as const };
  target.secret = (
    await registerEndpoint(service.db, wish, { origin: { at: service.clock() }, keys, policy: inside })
  ).secret;
  target.url = await serve(makeListener({ sync: told.sync, secret: target.secret, clock: service.clock }));
  return { name, app, client, line, told, follower: null, sleeper: null, signedIn: new Set() };
}

function makeCopy(client: Client): Copy {
  const records = makeMemoryStore();
  const sync = makeSync({ client, store: records });
  atFileEnd(() => sync.close());
  return { sync, records };
}

/** One request in five has its trouble, and only its first two attempts do, so that every event arrives. */
function chooseTrouble(chance: number, attempt: number): Trouble {
  const [share, seldom] = [0.06, 0.04];
  if (attempt > 2) return null;
  if (chance < seldom) return "no answer";
  return troubles.filter((trouble) => trouble !== "no answer")[Math.floor((chance - seldom) / share)] ?? null;
}

/** Learns what everybody is called now; whoever is gone keeps their last name. */
async function readNames({ db }: TestService, names: Map<string, string>): Promise<void> {
  const { rows } = await db.pool.query<{ id: string; name: string }>(
    `SELECT id, 'person ' || lower(first_call) AS name FROM person UNION ALL SELECT id, 'group ' || name FROM "group" UNION ALL SELECT id, 'school ' || lower(name) FROM school`,
  );
  for (const { id, name } of rows) names.set(id, name);
}

/** Whom an event or a change is about. */
export function nameSubject(names: ReadonlyMap<string, string>, { personId, groupId, schoolId }: Subject): string {
  return names.get((personId ?? groupId ?? schoolId)!) ?? "nobody";
}

type Subject = { personId?: string; groupId?: string; schoolId?: string | null };
