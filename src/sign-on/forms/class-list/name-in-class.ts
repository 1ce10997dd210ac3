type Name = { first: string; last: string };

const short = ({ first, last }: Name): string => `${first} ${Array.from(last)[0] ?? ""}.`;

/** The first name and the initial of the family name; the whole family name where both are those of another pupil. */
export function makeNameInClass(all: readonly Name[]): (pupil: Name) => string {
  const counts = new Map<string, number>();
  for (const name of all.map(short)) counts.set(name, (counts.get(name) ?? 0) + 1);
  return (pupil) => {
    const name = short(pupil);
    return counts.get(name) === 1 ? name : `${pupil.first} ${pupil.last}`;
  };
}
