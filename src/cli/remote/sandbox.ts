import type { ClientId } from "../../access/index.ts";
import type { PersonId, SchoolId } from "../../directory/index.ts";
import type { CreatedSandbox, Sandbox, SandboxId, SandboxStepName } from "../../sandbox/index.ts";
import { bodyOf, dateOf, firstEntries, given, once, type Remote, type Schemas } from "../admin-api.ts";

/** Shape: fields in the order in which they are printed. */
const sandboxOf = ({ id, clientId, createdAt, expiresAt, schools, steps }: Schemas["Sandbox"]): Sandbox => ({
  id: id as SandboxId,
  clientId: clientId as ClientId,
  createdAt: new Date(createdAt),
  expiresAt: new Date(expiresAt),
  schools: schools.map(({ id: schoolId, ...school }) => ({ id: schoolId as SchoolId, ...school })),
  steps: steps.map(({ step, doneAt, expectation }) => ({ step, doneAt: dateOf(doneAt), expectation })),
});

type Asked = { clientId: ClientId | undefined; limit: number; after: string | undefined };

export async function listSandboxes({ api }: Remote, { clientId, limit, after }: Asked): Promise<Sandbox[]> {
  const asked = given({ app: clientId });
  const read = (page: object) => api.GET("/admin/v1/sandboxes", { params: { query: { ...asked, ...page } } });
  return (await firstEntries(read, { limit, after, idOf: ({ id }) => id })).map(sandboxOf);
}

const one = "/admin/v1/sandboxes/{sandboxId}";
const of = (sandboxId: SandboxId) => ({ params: { path: { sandboxId } } });

export const getSandbox = async ({ api }: Remote, id: SandboxId): Promise<Sandbox> =>
  sandboxOf(await bodyOf(api.GET(one, of(id))));

export async function createSandbox({ api }: Remote, clientId: ClientId): Promise<CreatedSandbox> {
  const params = { path: { clientId }, ...once() };
  const { sandbox, accounts } = await bodyOf(api.POST("/admin/v1/apps/{clientId}/sandboxes", { params }));
  return {
    sandbox: sandboxOf(sandbox),
    accounts: accounts.map(({ personId, schoolIds, ...account }) => ({
      ...account,
      personId: personId as PersonId,
      schoolIds: schoolIds as SchoolId[],
    })),
  };
}

export const playSandbox = async ({ api }: Remote, id: SandboxId, upTo: SandboxStepName): Promise<Sandbox> =>
  sandboxOf(await bodyOf(api.POST(`${one}/steps`, { ...of(id), body: { upTo } })));

export async function deleteSandbox({ api }: Remote, id: SandboxId): Promise<void> {
  await api.DELETE(one, of(id));
}
