/** An invented school as its programs know it, and what becomes of it in two weeks. Always the same. */
export type Pupil = {
  id: number;
  last: string;
  first: string;
  call: string;
  born: string;
  /** As `5a`, without a leading zero. */
  in: string;
  courses: string[];
};
export type Teacher = { id: string; last: string; first: string; classes: string[] };
export type School = { name: string; pupils: Pupil[]; teachers: Teacher[] };

const firstNames = (
  "Jörg Aylin Mia Paul Fatma Ben Lea Yusuf Zoë Kim Oskar Hanna Emil Nele Théo Ida Ravi Clara Samuel Pia Gregor Łucja " +
  "Anna-Lena Mert Sofía Björn"
).split(" ");
const lastNames = (
  "Müller Öztürk Schmidt Weiß Nowak Groß Fischer Vogel Çelik Hahn Jung Becker Dietrich Albers Kaya Lange Peters Roth " +
  "Thomsen Ulrich Xander Ebert Größer Kowalczyk Yılmaz Ångström D'Amico Müller-Lüdenscheidt"
).split(" ");
const pick = (all: readonly string[], n: number): string => all[n % all.length]!;
const namesOf = (n: number) => {
  const call = pick(firstNames, n * 7);
  return {
    last: pick(lastNames, n * 5 + Math.floor(n / 28)),
    call,
    first: n % 3 === 0 ? `${call} ${pick(firstNames, n + 3)}` : call,
  };
};
const two = (n: number): string => String(n).padStart(2, "0");
const bornOf = (n: number, grade: number) => `${two((n % 28) + 1)}.${two((n % 12) + 1)}.${2020 - grade}`;

const perClass = 25;
const firstGrade = 5;
const letters = "abcdef";

export const classesOf = ({ pupils }: School): string[] => [...new Set(pupils.map((pupil) => pupil.in))];

export function makeSchool(name: string, size: number, { firstId = 10_001, firstName = 0 } = {}): School {
  const pupils = Array.from({ length: size }, (_, n): Pupil => {
    const at = Math.floor(n / perClass);
    const grade = firstGrade + Math.floor(at / letters.length);
    const courses = [`Religion ${grade}`, ...(n % 4 === 0 ? ["Chor"] : [])];
    return {
      id: firstId + n,
      ...namesOf(n + firstName),
      born: bornOf(n, grade),
      in: `${grade}${letters[at % letters.length]!}`,
      courses,
    };
  });
  const all = [...new Set(pupils.map((pupil) => pupil.in))];
  const teachers = Array.from({ length: Math.ceil(size / 15) }, (_, n): Teacher => {
    const { last, call } = namesOf(3 * n + 1);
    return { id: `L${two(n)}${last.slice(0, 2).toUpperCase()}`, last, first: call, classes: [pick(all, n)] };
  });
  return { name, pupils, teachers };
}

/** 10 leave, 15 come, 20 change to the next class, 5 have another name; of a small school as many parts of it. */
export function twoWeeksLater(school: School): School {
  const { pupils, teachers } = school;
  const part = Math.min(1, pupils.length / 1200);
  const [leave, come, move, rename] = [10, 15, 20, 5].map((many) => Math.ceil(many * part)) as [
    number,
    number,
    number,
    number,
  ];
  const step = Math.floor(pupils.length / (leave + move + rename));
  const all = classesOf(school);
  const stay = pupils.flatMap((pupil, n) => {
    const turn = n % step === 0 ? n / step : Infinity;
    if (turn < leave) return [];
    if (turn < leave + move) return [{ ...pupil, in: pick(all, all.indexOf(pupil.in) + 1) }];
    return [turn < leave + move + rename ? { ...pupil, last: `${pupil.last}-Neu` } : pupil];
  });
  const next = Math.max(...pupils.map(({ id }) => id)) + 1;
  const made = Array.from({ length: come }, (_, n): Pupil => {
    const grade = pick(all, n);
    return {
      id: next + n,
      ...namesOf(2 * n + 11),
      born: bornOf(n, Number.parseInt(grade)),
      in: grade,
      courses: [`Religion ${Number.parseInt(grade)}`],
    };
  });
  return { ...school, pupils: [...stay, ...made], teachers: teachers.slice(1) };
}
