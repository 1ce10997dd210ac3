import { appNotFound } from "../access/index.ts";
import { present } from "../platform/contract-types.ts";
import { storeOf } from "../platform/database/db.ts";
import {
  createSandbox as create,
  deleteSandbox as remove,
  getSandbox as read,
  listSandboxes as list,
  playSandbox,
  type CreatedSandbox,
  type Sandbox,
} from "../sandbox/index.ts";
import { answerRecord, refuseStale } from "./change.ts";
import type { AdminDeps, AdminHandler, AdminRequest, Schemas } from "./handler.ts";
import { readPage } from "./page.ts";
import { ownAppsOf, reachesOwnApp, refuseOthersApp } from "./reached.ts";

const sandboxesPath = "/admin/v1/sandboxes";

const presentSandbox = ({ steps, ...sandbox }: Sandbox) =>
  present<Schemas["Sandbox"]>({
    ...sandbox,
    steps: steps.map((step) => present<Schemas["SandboxStep"]>(step)),
  });

const presentCreated = ({ sandbox, accounts }: CreatedSandbox) =>
  present<Schemas["CreatedSandbox"]>({
    sandbox: presentSandbox(sandbox),
    accounts: accounts.map((account) => present<Schemas["SandboxAccount"]>(account)),
  });

type OwnRequest = Pick<AdminRequest<"getSandbox">, "sandboxId" | "reach">;

/** Errors: not_found sandbox_not_found if the caller does not manage its app. */
async function readOwn({ db }: Pick<AdminDeps, "db">, { sandboxId, reach }: OwnRequest): Promise<Sandbox> {
  return read(storeOf(db), sandboxId, ownAppsOf(reach));
}

export const listSandboxes: AdminHandler<"listSandboxes"> = async (deps, request) => {
  const { query, reach } = request;
  const page = readPage(deps, request);
  const clientId = query.app;
  if (clientId !== undefined) await refuseOthersApp(deps.db.pool, reach, clientId);
  const found = await list(storeOf(deps.db), { clientId, among: ownAppsOf(reach), ...page.range });
  return page.answer(found, presentSandbox);
};

export const createSandbox: AdminHandler<"createSandbox"> = async (deps, { clientId, reach, origin, keep }) => {
  if (!reachesOwnApp(reach, clientId)) throw appNotFound();
  const { db, restoreWindowDays } = deps;
  const wanted = {
    clientId,
    restoreWindowDays,
    finish: async ({ tx }: { tx: Parameters<typeof keep>[0] }, made: CreatedSandbox) => {
      const body = presentCreated(made);
      const headers = { Location: `${sandboxesPath}/${made.sandbox.id}` };
      return keep(tx, { status: 201 as const, body, headers });
    },
  };
  return create(db, wanted, origin);
};

export const getSandbox: AdminHandler<"getSandbox"> = async (deps, request) =>
  answerRecord(presentSandbox(await readOwn(deps, request)));

export const deleteSandbox: AdminHandler<"deleteSandbox"> = async (deps, request) => {
  const found = await readOwn(deps, request);
  const check = (now: Sandbox) => refuseStale(request.headers, presentSandbox(now));
  await remove(deps.db, found.id, request.origin, check);
  return { status: 204 };
};

export const applySandboxSteps: AdminHandler<"applySandboxSteps"> = async (deps, request) => {
  const { db, clock, restoreWindowDays } = deps;
  const { id } = await readOwn(deps, request);
  const { at: _at, ...origin } = request.origin;
  const asked = { id, upTo: request.body.upTo, restoreWindowDays, clock };
  return answerRecord(presentSandbox(await playSandbox(db, asked, origin)));
};
