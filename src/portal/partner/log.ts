import type { AdminSchemas, AuditAction } from "../../admin/index.ts";
import {
  compareLine,
  describeAction,
  unwrapPage,
  type Difference,
  type PageView,
  type PageRequest,
} from "../frame/index.ts";
import { addressOf, showAppPage } from "./app-page.ts";

type Line = AdminSchemas["AuditLine"];

/** The actions to choose from. */
const actions: readonly AuditAction[] = [
  "app_created",
  "app_updated",
  "app_logo_set",
  "app_logo_removed",
  "id_move_started",
  "id_move_updated",
  "id_move_cut_over",
  "id_move_called_off",
  "client_secret_rotated",
  "client_secret_ended",
  "scopes_requested",
  "scope_request_approved",
  "scope_request_refused",
  "grant_set",
  "sign_on_set",
  "sync_switched_on",
  "sync_switched_off",
  "synced_groups_set",
  "attributes_withheld",
  "agreement_draft_set",
  "agreement_draft_deleted",
  "agreement_published",
  "agreement_accepted",
  "agreement_withdrawn",
  "grant_withdrawn",
  "consent_given",
  "consent_withdrawn",
  "webhook_endpoint_registered",
  "webhook_endpoint_changed",
  "webhook_endpoint_paused",
  "webhook_endpoint_resumed",
  "webhook_endpoint_disabled",
  "webhook_endpoint_removed",
  "webhook_secret_rotated",
  "webhook_test_sent",
  "webhook_deliveries_repeated",
  "sandbox_created",
  "sandbox_step_played",
  "sandbox_deleted",
  "sign_in_refused",
  "token_reused",
  "staff_role_given",
  "staff_role_extended",
  "staff_role_withdrawn",
];

/** Changes of the app with the role of the person, without names. */
export async function listLog(request: PageRequest): Promise<PageView> {
  const { api, query, t } = request;
  const action = actions.find((one) => one === query("action"));
  const asked = {
    app: request.path.clientId,
    limit: 50,
    ...(action !== undefined && { action }),
    ...request.cursor,
  };
  const { items, more } = await unwrapPage(api.GET("/admin/v1/audit", { params: { query: asked } }));
  const model = {
    actions: actions.map((id) => ({ id, name: describeAction(id, t) })),
    action: action ?? "",
    lines: items.map((line) => ({
      ...line,
      what: describeAction(line.action, t),
      by: nameActor(line, t),
      changes: differencesOf(line, request),
    })),
    more: more(`${addressOf(request)}/log`, action === undefined ? {} : { action }),
  };
  return showAppPage(request, { page: "log", view: "log", model });
}

function nameActor({ actor, names }: Line, t: PageRequest["t"]): string {
  if (actor.role !== "NONE") return t(`staffRoles.${actor.role}`);
  return names.actorApp ?? actor.clientId ?? actor.program ?? t("words.nobodyRecorded");
}

const longest = 300;
const shorten = (text: string): string => (text.length > longest ? `${text.slice(0, longest)} …` : text);

const differencesOf = (line: Line, { t, times }: PageRequest): Difference[] =>
  compareLine(line, { t, times, names: new Map() }).map(({ name, before, after }) => ({
    name,
    before: shorten(before),
    after: shorten(after),
  }));
