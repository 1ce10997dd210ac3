import type { AppError } from "../platform/errors.ts";
import { present } from "../platform/contract-types.ts";
import { ParameterError, type RenderFailure } from "../platform/http/index.ts";
import type { components } from "../../generated/openapi/schulconnex.ts";

type SchulconnexError = components["schemas"]["SchulconnexError"];

type ErrorText = [status: number, subcode: string, titel: string, beschreibung: string];

// Titles and subcodes are those of the table "HTTP-Statuscodes" of the standard, and 429, 500 and 503 follow it.
const byCode: Record<string, (detail: string) => ErrorText> = {
  missing_token: () => [401, "00", "Zugang verweigert", "Der Header Authorization mit einem Access-Token fehlt."],
  expired_token: () => [401, "01", "Access Token abgelaufen", "Der Access-Token ist abgelaufen."],
  invalid_token: () => [401, "02", "Invalider Access-Token", "Der Access-Token ist unbekannt oder widerrufen."],
  wrong_context: (context) => [
    401,
    "03",
    "Falsche Autorisierungsmethode",
    `Dieser Endpunkt braucht einen Access-Token aus dem Ablauf ${flows[context]!}.`,
  ],
  insufficient_scope: (scope) => [403, "00", "Fehlende Rechte", `Dem Access-Token fehlt der Scope ${scope}.`],
  path_not_found: () => [404, "00", "Endpunkt existiert nicht", "Unter dieser Adresse gibt es nichts."],
};

const flows: Record<string, string> = {
  app: "Client Credentials (die App selbst)",
  user: "Authorization Code (Anmeldung einer Person)",
};

const byStatus: Record<number, ErrorText> = {
  400: [400, "00", "Fehlerhafte Anfrage", "Die Anfrage folgt nicht der Beschreibung dieser Schnittstelle."],
  404: [404, "01", "Angefragte Entität existiert nicht", "Zu dieser Person gibt es für diese App keine Daten."],
  405: [405, "00", "Nicht erlaubt", "Dieser Endpunkt beantwortet nur GET."],
  429: [429, "00", "Zu viele Anfragen", "Bitte später erneut versuchen."],
  501: [501, "00", "Der Endpunkt ist nicht implementiert.", "Dieser Endpunkt wird nicht angeboten."],
  503: [503, "00", "Dienst nicht verfügbar", "Der Dienst kann gerade nicht antworten."],
};

const unknown: ErrorText = [500, "00", "Interner Fehler", "Bei uns ist ein Fehler aufgetreten."];
const changing: ErrorText = [405, "01", "POST/PUT nicht erlaubt", byStatus[405]![3]];

function parameterText({ fault, parameter, allowed }: ParameterError): ErrorText {
  if (fault === "repeated")
    return [400, "17", "Doppelter Filter", `Der Filter ${parameter} darf nur einmal angegeben werden.`];
  if (fault === "unknown") return [400, "00", "Fehlerhafte Anfrage", `Den Parameter ${parameter} gibt es hier nicht.`];
  const expected = allowed.length === 0 ? "" : ` Erlaubt: ${allowed.join(", ")}.`;
  return [400, "02", "Falsche Parameter", `Der Parameter ${parameter} hat keinen gültigen Wert.${expected}`];
}

function errorText(failure: AppError, method: string): ErrorText {
  if (failure instanceof ParameterError) return parameterText(failure);
  const { internal = "", status } = failure;
  const code = failure.code === "invalid_token" && internal === "expired" ? "expired_token" : failure.code;
  if (status === 405 && /^(POST|PUT)$/.test(method)) return changing;
  return byCode[code]?.(internal) ?? byStatus[status] ?? unknown;
}

export const renderSchulconnex: RenderFailure = (failure, res) => {
  const [status, subcode, titel, beschreibung] = errorText(failure, res.req.method);
  if (failure.code === "wrong_context") res.setHeader("WWW-Authenticate", 'Bearer error="invalid_token"');
  res.status(status).json(present<SchulconnexError>({ code: String(status), subcode, titel, beschreibung }));
};
