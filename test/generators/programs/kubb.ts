import * as idm from "../clients/kubb/idm";
import * as schulconnex from "../clients/kubb/schulconnex";
import * as signOn from "../clients/kubb/sign-on";
import { groupEventSchema, personEventSchema, schoolEventSchema } from "../clients/kubb/webhooks";
import type { Client, RequestConfig } from "../clients/kubb/idm/.kubb/fetch";
import { basic, kept, print, refusalOf, world } from "./world";

const { urls } = world;

class Refusal extends Error {
  readonly status: number;
  readonly body: unknown;
  constructor(status: number, body: unknown) {
    super(`refused with ${status}`);
    this.status = status;
    this.body = body;
  }
}

/**
 * The client that is handed to every operation, as the generator's guide has it: sends forms to sign-on and JSON to the
 * other APIs, and throws refusals.
 */
const makeClient =
  (baseUrl: string, authorization?: string): Client =>
  async <TData, _TError = unknown, TVariables = unknown>({
    url = "",
    method = "GET",
    params,
    data,
    headers,
  }: RequestConfig<TVariables>) => {
    const query = new URLSearchParams(
      Object.entries((params ?? {}) as Record<string, unknown>).map(([name, value]) => [name, String(value)]),
    );
    const isJson = data !== undefined && baseUrl !== urls.signOn;
    const answer = await fetch(`${baseUrl}${url}${query.size > 0 ? `?${query}` : ""}`, {
      method,
      headers: {
        ...(headers as Record<string, string>),
        ...(authorization && { authorization }),
        ...(isJson && { "content-type": "application/json" }),
      },
      ...(data !== undefined && {
        body: isJson ? JSON.stringify(data) : new URLSearchParams(data as Record<string, string>),
      }),
    });
    const text = await answer.text();
    const body: unknown = text === "" ? undefined : JSON.parse(text);
    if (!answer.ok) throw new Refusal(answer.status, body);
    return { data: body as TData, status: answer.status, statusText: answer.statusText, headers: answer.headers };
  };

const tokenFor = { grant_type: "client_credentials", scope: world.scope } as const;

async function run(): Promise<void> {
  const asApp = { client: makeClient(urls.signOn, basic()) };
  const token = await signOn.issueToken(tokenFor, asApp);
  const wrong = (await refusalOf(
    signOn.issueToken(tokenFor, { client: makeClient(urls.signOn, basic("wrong")) }),
  )) as Refusal;
  const auth = { client: makeClient(urls.idm, `Bearer ${token.access_token}`) };
  const records = { client: makeClient(urls.schulconnex, `Bearer ${token.access_token}`) };
  const asUser = (url: string) => ({ client: makeClient(url, `Bearer ${world.userToken}`) });

  const position = await idm.listChanges({}, {}, auth);
  const read = {
    listSchools: await idm.listSchools({}, {}, auth),
    getSchool: await idm.getSchool(world.school, {}, auth),
    listSchoolUsers: await idm.listSchoolUsers(world.school, {}, {}, auth),
    getUser: await idm.getUser(world.person, {}, auth),
    getSchoolRoster: await idm.getSchoolRoster(world.school, {}, auth),
    listSchoolGroups: await idm.listSchoolGroups(world.school, {}, {}, auth),
    getGroup: await idm.getGroup(world.group, {}, auth),
    listSchoolPeople: await idm.listSchoolPeople(world.school, {}, {}, auth),
    getPerson: await idm.getPerson(world.personWithoutName, {}, {}, auth),
    listChanges: position,
    acknowledgeErasure: await idm.acknowledgeErasure(world.erasure, kept, auth),
    listErasures: await idm.listErasures({}, {}, auth),
    listIdentifierChanges: await idm.listIdentifierChanges({ id: world.movedPerson }, {}, auth),
    listPersonenInfo: await schulconnex.listPersonenInfo({}, {}, records),
    listCodelisten: await schulconnex.listCodelisten({}, records),
    getPersonInfo: await schulconnex.getPersonInfo({}, asUser(urls.schulconnex)),
    getUserinfo: await signOn.getUserinfo(asUser(urls.signOn)),
    getDiscovery: await signOn.getDiscovery({ client: makeClient(urls.signOn) }),
    listKeys: await signOn.listKeys({ client: makeClient(urls.signOn) }),
    introspectToken: await signOn.introspectToken({ token: token.access_token }, asApp),
  };
  const changes = await idm.listChanges({ after: position.next, limit: 10 }, {}, auth);
  const firstPage = await idm.listSchoolPeople(world.school, { limit: 1 }, {}, auth);
  const deletedGroups = await idm.listSchoolGroups(world.school, { "show-deleted": true }, {}, auth);
  const withParts = await schulconnex.listPersonenInfo(
    { vollstaendig: ["personen", "personenkontexte"], pid: world.person },
    {},
    records,
  );
  const problem = async (call: Promise<unknown>) => {
    const { status, body } = (await refusalOf(call)) as Refusal;
    return { status, code: idm.problemSchema.parse(body).code };
  };
  const notOffered = async (call: Promise<unknown>) => {
    const { status, body } = (await refusalOf(call)) as Refusal;
    return { status, ...schulconnex.schulconnexErrorSchema.parse(body) };
  };
  const hidden = await problem(idm.getPerson(world.hiddenPerson, {}, {}, auth));
  const wrongLimit = await problem(idm.listSchools({ limit: 0 }, {}, auth));
  const wrongToken = await problem(idm.listSchools({}, {}, { client: makeClient(urls.idm, "Bearer unknown") }));
  const refused = {
    listOrganisationenInfo: await notOffered(schulconnex.listOrganisationenInfo(records)),
    listGruppenInfo: await notOffered(schulconnex.listGruppenInfo(records)),
  };
  await signOn.revokeToken({ token: token.access_token }, asApp);

  print({
    token,
    wrongSecret: { status: wrong.status, error: signOn.oAuthErrorSchema.parse(wrong.body).error },
    read: { ...read, revokeToken: 200 },
    changed: changes.changes.length,
    firstPage,
    deletedGroups,
    withParts,
    hidden,
    wrongLimit,
    wrongToken,
    notOffered: refused,
    events: {
      person: world.events.person.map((event) => personEventSchema.parse(event)),
      group: world.events.group.map((event) => groupEventSchema.parse(event)),
      school: world.events.school.map((event) => schoolEventSchema.parse(event)),
    },
  });
}

void run();
