import type { AppError } from "../platform/errors.ts";
import { present } from "../platform/contract-types.ts";
import { ParameterError, type RenderFailure } from "../platform/http/index.ts";
import type { components } from "../../generated/openapi/schulconnex.ts";

type SchulconnexError = components["schemas"]["SchulconnexError"];

type ErrorText = [status: number, subcode: string, titel: string, beschreibung: string];

const byCode: Record<string, ErrorText> = {
  missing_token: [401, "00", "Autorisierung fehlt", "Die Anfrage braucht ein Zugriffstoken im Header Authorization."],
  invalid_token: [401, "02", "Zugriffstoken ungültig", "Das Zugriffstoken ist unbekannt oder widerrufen."],
  expired_token: [401, "01", "Zugriffstoken abgelaufen", "Das Zugriffstoken ist abgelaufen."],
  wrong_context: [
    401,
    "03",
    "Falsche Art von Zugriffstoken",
    "Dieser Endpunkt braucht ein Zugriffstoken aus dem anderen Ablauf.",
  ],
  path_not_found: [404, "00", "Endpunkt nicht gefunden", "Unter dieser Adresse gibt es nichts."],
};

const byStatus: Record<number, ErrorText> = {
  400: [400, "00", "Fehlerhafte Anfrage", "Die Anfrage folgt nicht der Beschreibung dieser Schnittstelle."],
  403: [403, "00", "Zugriff nicht erlaubt", "Dem Zugriffstoken fehlt der nötige Scope."],
  404: [404, "01", "Angefragte Entität existiert nicht", "Zu dieser Person gibt es für diese App keine Daten."],
  405: [405, "00", "Methode nicht erlaubt", "Dieser Endpunkt beantwortet nur GET."],
  429: [429, "00", "Zu viele Anfragen", "Bitte später erneut versuchen."],
  501: [501, "00", "Nicht implementiert", "Dieser Endpunkt wird nicht angeboten."],
  503: [503, "00", "Dienst nicht verfügbar", "Der Dienst kann gerade nicht antworten."],
};

const unknown: ErrorText = [500, "00", "Interner Fehler", "Bei uns ist ein Fehler aufgetreten."];

const byFault: Record<ParameterError["fault"], (parameter: string) => ErrorText> = {
  unknown: (name) => [400, "00", "Fehlerhafte Anfrage", `Den Parameter ${name} gibt es hier nicht.`],
  wrong: (name) => [400, "00", "Fehlerhafte Anfrage", `Der Parameter ${name} hat keinen gültigen Wert.`],
  repeated: (name) => [400, "17", "Filter mehrfach angegeben", `Der Filter ${name} darf nur einmal angegeben werden.`],
};

function errorText(failure: AppError): ErrorText {
  if (failure instanceof ParameterError) return byFault[failure.fault](failure.parameter);
  const { code, internal, status } = failure;
  return (
    byCode[code === "invalid_token" && internal === "expired" ? "expired_token" : code] ?? byStatus[status] ?? unknown
  );
}

export const renderSchulconnex: RenderFailure = (failure, res) => {
  const [status, subcode, titel, beschreibung] = errorText(failure);
  if (failure.code === "wrong_context") res.setHeader("WWW-Authenticate", 'Bearer error="invalid_token"');
  res.status(status).json(present<SchulconnexError>({ code: String(status), subcode, titel, beschreibung }));
};
