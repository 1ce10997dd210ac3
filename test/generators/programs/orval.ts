import assert from "node:assert/strict";
import * as idm from "../clients/orval/idm/client";
import * as idmSchemas from "../clients/orval/idm/zod";
import * as schulconnex from "../clients/orval/schulconnex/client";
import * as schulconnexSchemas from "../clients/orval/schulconnex/zod";
import * as signOn from "../clients/orval/sign-on/client";
import * as signOnSchemas from "../clients/orval/sign-on/zod";
import { ReceiveGroupEventBody, ReceivePersonEventBody, ReceiveSchoolEventBody } from "../clients/orval/webhooks/zod";
import { basic, kept, print, world } from "./world";

/** The answer of an operation that has to succeed, parsed by the schema made for it. */
function good<T>(answer: { status: number; data: unknown }, schema: { parse(value: unknown): T }): T {
  assert.equal(answer.status, 200);
  return schema.parse(answer.data);
}

const asApp = { headers: { authorization: basic() } };
const tokenFor = { grant_type: "client_credentials", scope: world.scope } as const;

async function run(): Promise<void> {
  const token = good(await signOn.issueToken(tokenFor, asApp), signOnSchemas.IssueTokenResponse);
  const wrong = await signOn.issueToken(tokenFor, { headers: { authorization: basic("wrong") } });
  assert(wrong.status === 400);

  const auth = { headers: { authorization: `Bearer ${token.access_token}` } };
  const asUser = { headers: { authorization: `Bearer ${world.userToken}` } };
  const position = good(await idm.listChanges({}, auth), idmSchemas.ListChangesResponse);
  const read = {
    listSchools: good(await idm.listSchools({}, auth), idmSchemas.ListSchoolsResponse),
    getSchool: good(await idm.getSchool(world.school, auth), idmSchemas.GetSchoolResponse),
    listSchoolUsers: good(await idm.listSchoolUsers(world.school, {}, auth), idmSchemas.ListSchoolUsersResponse),
    getUser: good(await idm.getUser(world.person, auth), idmSchemas.GetUserResponse),
    getSchoolRoster: good(await idm.getSchoolRoster(world.school, auth), idmSchemas.GetSchoolRosterResponse),
    listSchoolGroups: good(await idm.listSchoolGroups(world.school, {}, auth), idmSchemas.ListSchoolGroupsResponse),
    getGroup: good(await idm.getGroup(world.group, auth), idmSchemas.GetGroupResponse),
    listSchoolPeople: good(await idm.listSchoolPeople(world.school, {}, auth), idmSchemas.ListSchoolPeopleResponse),
    getPerson: good(await idm.getPerson(world.personWithoutName, {}, auth), idmSchemas.GetPersonResponse),
    listChanges: position,
    acknowledgeErasure: good(
      await idm.acknowledgeErasure(world.erasure, kept, auth),
      idmSchemas.AcknowledgeErasureResponse,
    ),
    listErasures: good(await idm.listErasures({}, auth), idmSchemas.ListErasuresResponse),
    listIdentifierChanges: good(
      await idm.listIdentifierChanges({ id: world.movedPerson }, auth),
      idmSchemas.ListIdentifierChangesResponse,
    ),
    listPersonenInfo: good(await schulconnex.listPersonenInfo({}, auth), schulconnexSchemas.ListPersonenInfoResponse),
    listCodelisten: good(await schulconnex.listCodelisten(auth), schulconnexSchemas.ListCodelistenResponse),
    getPersonInfo: good(await schulconnex.getPersonInfo(asUser), schulconnexSchemas.GetPersonInfoResponse),
    getUserinfo: good(await signOn.getUserinfo(asUser), signOnSchemas.GetUserinfoResponse),
    getDiscovery: good(await signOn.getDiscovery(), signOnSchemas.GetDiscoveryResponse),
    listKeys: good(await signOn.listKeys(), signOnSchemas.ListKeysResponse),
    introspectToken: good(
      await signOn.introspectToken({ token: token.access_token }, asApp),
      signOnSchemas.IntrospectTokenResponse,
    ),
  };
  const changes = await idm.listChanges({ after: position.next, limit: 10 }, auth);
  const page = await idm.listSchoolPeople(world.school, { limit: 1 }, auth);
  const groups = await idm.listSchoolGroups(world.school, { "show-deleted": true }, auth);
  const parts = await schulconnex.listPersonenInfo(
    { vollstaendig: ["personen", "personenkontexte"], pid: world.person },
    auth,
  );
  const hidden = await idm.getPerson(world.hiddenPerson, {}, auth);
  const limit = await idm.listSchools({ limit: 0 }, auth);
  const stranger = await idm.listSchools({}, { headers: { authorization: "Bearer unknown" } });
  assert(hidden.status === 404 && limit.status === 400 && stranger.status === 401);
  const organisations = await schulconnex.listOrganisationenInfo(auth);
  const gruppen = await schulconnex.listGruppenInfo(auth);
  const revoked = await signOn.revokeToken({ token: token.access_token }, asApp);

  print({
    token,
    wrongSecret: { status: wrong.status, error: wrong.data.error },
    read: { ...read, revokeToken: revoked.status },
    changed: good(changes, idmSchemas.ListChangesResponse).changes.length,
    firstPage: good(page, idmSchemas.ListSchoolPeopleResponse),
    deletedGroups: good(groups, idmSchemas.ListSchoolGroupsResponse),
    withParts: good(parts, schulconnexSchemas.ListPersonenInfoResponse),
    hidden: { status: hidden.status, code: hidden.data.code },
    wrongLimit: { status: limit.status, code: limit.data.code },
    wrongToken: { status: stranger.status, code: stranger.data.code },
    notOffered: {
      listOrganisationenInfo: { status: organisations.status, ...organisations.data },
      listGruppenInfo: { status: gruppen.status, ...gruppen.data },
    },
    events: {
      person: world.events.person.map((event) => ReceivePersonEventBody.parse(event)),
      group: world.events.group.map((event) => ReceiveGroupEventBody.parse(event)),
      school: world.events.school.map((event) => ReceiveSchoolEventBody.parse(event)),
    },
  });
}

void run();
