import { isErrorFromAlias } from "@zodios/core";
import assert from "node:assert/strict";
import { createApiClient as createIdm, api as idmApi } from "../clients/openapi-zod-client/idm/client";
import {
  createApiClient as createSchulconnex,
  api as schulconnexApi,
} from "../clients/openapi-zod-client/schulconnex/client";
import { createApiClient as createSignOn, api as signOnApi } from "../clients/openapi-zod-client/sign-on/client";
import { schemas } from "../clients/openapi-zod-client/webhooks/client";
import { basic, kept, print, refusalOf, world } from "./world";

// axios writes the names of lists in queries with `[]`, unless it is told not to.
const withToken = (authorization: string) => ({
  axiosConfig: { headers: { authorization }, paramsSerializer: { indexes: null } },
});
const { urls } = world;
const tokenFor = { grant_type: "client_credentials", scope: world.scope } as const;

async function run(): Promise<void> {
  const app = createSignOn(urls.signOn, withToken(basic()));
  const token = await app.issueToken(tokenFor);
  const wrong = await refusalOf(createSignOn(urls.signOn, withToken(basic("wrong"))).issueToken(tokenFor));
  assert(isErrorFromAlias(signOnApi.api, "issueToken", wrong));

  const bearer = withToken(`Bearer ${token.access_token}`);
  const idm = createIdm(urls.idm, bearer);
  const schulconnex = createSchulconnex(urls.schulconnex, bearer);
  const asUser = withToken(`Bearer ${world.userToken}`);
  const params = (id: string) => ({ params: { id } });

  const position = await idm.listChanges();
  const read = {
    listSchools: await idm.listSchools(),
    getSchool: await idm.getSchool(params(world.school)),
    listSchoolUsers: await idm.listSchoolUsers(params(world.school)),
    getUser: await idm.getUser(params(world.person)),
    getSchoolRoster: await idm.getSchoolRoster(params(world.school)),
    listSchoolGroups: await idm.listSchoolGroups(params(world.school)),
    getGroup: await idm.getGroup(params(world.group)),
    listSchoolPeople: await idm.listSchoolPeople(params(world.school)),
    getPerson: await idm.getPerson(params(world.personWithoutName)),
    listChanges: position,
    acknowledgeErasure: await idm.acknowledgeErasure(kept, params(world.erasure)),
    listErasures: await idm.listErasures(),
    listIdentifierChanges: await idm.listIdentifierChanges({ queries: { id: world.movedPerson } }),
    listPersonenInfo: await schulconnex.listPersonenInfo(),
    listCodelisten: await schulconnex.listCodelisten(),
    getPersonInfo: await createSchulconnex(urls.schulconnex, asUser).getPersonInfo(),
    getUserinfo: await createSignOn(urls.signOn, asUser).getUserinfo(),
    getDiscovery: await app.getDiscovery(),
    listKeys: await app.listKeys(),
    introspectToken: await app.introspectToken({ token: token.access_token }),
  };
  const changes = await idm.listChanges({ queries: { after: position.next, limit: 10 } });
  const firstPage = await idm.listSchoolPeople({ ...params(world.school), queries: { limit: 1 } });
  const deletedGroups = await idm.listSchoolGroups({ ...params(world.school), queries: { "show-deleted": true } });
  const withParts = await schulconnex.listPersonenInfo({
    queries: { vollstaendig: ["personen", "personenkontexte"], pid: world.person },
  });
  const hidden = await refusalOf(idm.getPerson(params(world.hiddenPerson)));
  assert(isErrorFromAlias(idmApi.api, "getPerson", hidden) && hidden.response.status === 404);
  // The client refuses a limit of 0 by itself, so it is told not to look at what it sends.
  const careless = createIdm(urls.idm, { ...bearer, validate: "response" });
  const limit = await refusalOf(careless.listSchools({ queries: { limit: 0 } }));
  assert(isErrorFromAlias(idmApi.api, "listSchools", limit) && limit.response.status === 400);
  const stranger = await refusalOf(createIdm(urls.idm, withToken("Bearer unknown")).listSchools());
  assert(isErrorFromAlias(idmApi.api, "listSchools", stranger) && stranger.response.status === 401);
  const organisations = await refusalOf(schulconnex.listOrganisationenInfo());
  assert(isErrorFromAlias(schulconnexApi.api, "listOrganisationenInfo", organisations));
  const gruppen = await refusalOf(schulconnex.listGruppenInfo());
  assert(isErrorFromAlias(schulconnexApi.api, "listGruppenInfo", gruppen));
  await app.revokeToken({ token: token.access_token });

  print({
    token,
    wrongSecret: { status: wrong.response.status, error: wrong.response.data.error },
    read: { ...read, revokeToken: 200 },
    changed: changes.changes.length,
    firstPage,
    deletedGroups,
    withParts,
    hidden: { status: hidden.response.status, code: hidden.response.data.code },
    wrongLimit: { status: limit.response.status, code: limit.response.data.code },
    wrongToken: { status: stranger.response.status, code: stranger.response.data.code },
    notOffered: {
      listOrganisationenInfo: { status: organisations.response.status, ...organisations.response.data },
      listGruppenInfo: { status: gruppen.response.status, ...gruppen.response.data },
    },
    events: {
      person: world.events.person.map((event) => schemas.PersonEvent.parse(event)),
      group: world.events.group.map((event) => schemas.GroupEvent.parse(event)),
      school: world.events.school.map((event) => schemas.SchoolEvent.parse(event)),
    },
  });
}

void run();
