type Named = { person: { firstCall: string | null; last: string | null } | null; app: { name: string } | null };

/** What a holder is called; null for a person without a name. */
export function nameOfHolder({ person, app }: Named): string | null {
  if (app !== null) return app.name;
  return person === null || person.last === null ? null : `${person.firstCall ?? ""} ${person.last}`.trim();
}
