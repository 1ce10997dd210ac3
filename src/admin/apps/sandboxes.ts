import { storeOf, type Transaction } from "../../platform/database/db.ts";
import {
  createSandbox as create,
  deleteSandbox as remove,
  getSandbox as read,
  listSandboxes as list,
  playSandbox,
  type CreatedSandbox,
  type Sandbox,
} from "../../sandbox/index.ts";
import { answerCreated, answerRecord, refuseStale } from "../change.ts";
import { present, type AdminDeps, type AdminHandler, type AdminRequest } from "../handler.ts";
import { ownAppsOf, refuseOthersApp } from "../reached.ts";

const presentSandbox = (sandbox: Sandbox) => present("Sandbox", sandbox);

type OwnRequest = Pick<AdminRequest<"getSandbox">, "sandboxId" | "reach">;

/** Errors: not_found sandbox_not_found if the caller does not manage its app. */
async function readOwn({ db }: Pick<AdminDeps, "db">, { sandboxId, reach }: OwnRequest): Promise<Sandbox> {
  return read(storeOf(db), sandboxId, ownAppsOf(reach));
}

export const listSandboxes: AdminHandler<"listSandboxes"> = async (deps, request) => {
  const { query, reach, page } = request;
  const clientId = query.app;
  if (clientId !== undefined) await refuseOthersApp(deps.db.pool, reach, clientId);
  const sandboxes = await list(storeOf(deps.db), { clientId, among: ownAppsOf(reach), ...page.range });
  return page.answer(sandboxes, presentSandbox);
};

export const createSandbox: AdminHandler<"createSandbox"> = ({ db, restoreWindowDays }, request) => {
  const { clientId, origin } = request;
  const finish = async ({ tx }: { tx: Transaction }, made: CreatedSandbox) => {
    const location = `/admin/v1/sandboxes/${made.sandbox.id}`;
    const body = present("CreatedSandbox", made);
    return request.keep(tx, await answerCreated(tx, request, { body, location, recorded: null }));
  };
  return create(db, { clientId, restoreWindowDays, finish }, origin);
};

export const getSandbox: AdminHandler<"getSandbox"> = async (deps, request) =>
  answerRecord(presentSandbox(await readOwn(deps, request)));

export const deleteSandbox: AdminHandler<"deleteSandbox"> = async (deps, request) => {
  const sandbox = await readOwn(deps, request);
  const check = (now: Sandbox) => refuseStale(request.headers, presentSandbox(now));
  await remove(deps.db, sandbox.id, request.origin, check);
  return { status: 204 };
};

export const applySandboxSteps: AdminHandler<"applySandboxSteps"> = async (deps, request) => {
  const { db, clock, restoreWindowDays } = deps;
  const { id } = await readOwn(deps, request);
  const { at: _at, ...origin } = request.origin;
  const step = { id, upTo: request.body.upTo, restoreWindowDays, clock };
  return answerRecord(presentSandbox(await playSandbox(db, step, origin)));
};
