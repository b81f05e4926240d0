import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { maskText } from '../../src/masking/mask-text.js';
import { isPesel } from '../../src/masking/pesel.js';

const M = '•••';

describe('maskText', () => {
  it.each([
    ['jan.kowalski@example.com', M],
    ['Write to jan.kowalski+x@mail.example.co.uk.', `Write to ${M}.`],
    ["'o.brien@example.com'", `'${M}'`],
    ['<jan@example.com>, ewa@example.com', `<${M}>, ${M}`],
    ['zażółć@gęślą.pl', M],
    ['jan%40example.com', M],
    ['mailto:jan@xn--bcher-kva.example', `mailto:${M}`],
    ['{"mail":"jan@example.com"}', `{"mail":"${M}"}`],
    ['+48 601 234 567', M],
    ['call +48601234567, today', `call ${M}, today`],
    ['+1 (555) 123-4567', M],
    ['+44.20.7946.0958', M],
    ['+48 601 234 567 2026-01-02', `${M} 2026-01-02`],
    ['PESEL 44051401359.', `PESEL ${M}.`],
    ['1;02270803624;Anna', `1;${M};Anna`],
    ['PL61 1090 1014 0000 0712 1981 2874', M],
    ['PL 61 1090 1014 0000 0712 1981 2874 for rent', `${M} for rent`],
    ['pay to DE89370400440532013000!', `pay to ${M}!`],
    ['de89-3704-0044-0532-0130-00', M],
    ['GB82 WEST 1234 5698 7654 32', M],
    ['4111111111111111', M],
    ['card 4111 1111 1111 1111 12/29', `card ${M} 12/29`],
    ['3782-822463-10005', M],
    ['5555555555554444,2223003122003222', `${M},${M}`],
    ['line\\n4111111111111111\\n', `line\\n${M}\\n`],
    ['jan@example.com +48601234567 44051401359', `${M} ${M} ${M}`],
    ['4405140135944051401359 44051401359', `4405140135944051401359 ${M}`],
  ])('masks %s', (text, masked) => {
    expect(maskText(text)).toBe(masked);
    expect(maskText(masked)).toBe(masked);
  });

  it.each([
    '',
    'orders_daily',
    'pkg@1.2.3',
    'react@19.0.0',
    'jan@localhost',
    '@scope/package',
    'jan @ example.com',
    '601 234 567',
    '2026-11-20T23:24:56.000+02:00',
    '1e+1000000',
    'x = a+48601234567',
    '+1000000',
    '44051401358',
    '44151401350',
    'ORD44051401359',
    '0.44051401359',
    '44051401359.5',
    'PL61109010140000071219812875',
    'XPL61109010140000071219812874',
    'PL6110901014000007121981287',
    '4111111111111112',
    'A4111111111111111',
    '41111111111111111',
    '4111  1111  1111  1111',
    '1732145096000',
    '1732145096000000',
    '01a1fb3c-6ba4-7748-a964-b27f88c25ee9',
    '00000000-0000-4000-8000-044051401359',
    'de893704-0044-0532-0130-000000000000',
    'tkt_01h2xcejqtf2nbrexx3vqjhp41',
    '192.168.100.200:5432',
    'SELECT * FROM orders WHERE id = 123456789 LIMIT 1000',
  ])('leaves %s', (text) => {
    expect(maskText(text)).toBe(text);
  });
});

const digits = (count: number) =>
  fc
    .array(fc.integer({ min: 0, max: 9 }), { minLength: count, maxLength: count })
    .map((list) => list.join(''));
const around = fc.constantFrom('', ' ', '"', ';', ', ', '\n', '(', ')', ' zażółć ', '|');

/** ISO 7064 MOD 97-10, as ISO 13616 asks for. */
function ibanOf(country: string, bban: string): string {
  const number = [...`${bban}${country}00`].map((c) => Number.parseInt(c, 36)).join('');
  return `${country}${String(98n - (BigInt(number) % 97n)).padStart(2, '0')}${bban}`;
}

function luhnDigit(body: string): number {
  let sum = 0;
  for (const [index, digit] of [...body].reverse().entries()) {
    const doubled = Number(digit) * (index % 2 === 0 ? 2 : 1);
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return (10 - (sum % 10)) % 10;
}

function peselOf(born: Date, serial: string): string {
  const month = born.getUTCMonth() + 1 + (born.getUTCFullYear() < 2000 ? 0 : 20);
  const body = [born.getUTCFullYear() % 100, month, born.getUTCDate()]
    .map((part) => String(part).padStart(2, '0'))
    .join('')
    .concat(serial);
  const weights = [1, 3, 7, 9, 1, 3, 7, 9, 1, 3];
  const sum = weights.reduce((total, weight, index) => total + weight * Number(body[index]), 0);
  return `${body}${(10 - (sum % 10)) % 10}`;
}

const iban = fc.oneof(
  digits(24).map((bban) => ibanOf('PL', bban)),
  digits(18).map((bban) => ibanOf('DE', bban)),
  digits(14).map((bban) => ibanOf('GB', `WEST${bban}`)),
);
const card = fc
  .oneof(
    digits(14).map((rest) => `4${rest}`),
    fc.tuple(fc.integer({ min: 51, max: 55 }), digits(13)).map(([prefix, rest]) => `${prefix}${rest}`),
    fc.tuple(fc.constantFrom('34', '37'), digits(12)).map(([prefix, rest]) => `${prefix}${rest}`),
  )
  .map((body) => `${body}${luhnDigit(body)}`);
const pesel = fc
  .tuple(
    fc.date({ min: new Date('1900-01-01'), max: new Date('2099-12-31'), noInvalidDate: true }),
    digits(4),
  )
  .map(([born, serial]) => peselOf(born, serial));

/** Another last digit: every check here is made to notice one wrong digit. */
const mistaken = (number: string, by: number) => `${number.slice(0, -1)}${(Number(number.at(-1)) + by) % 10}`;

describe('numbers with check digits', () => {
  it.each([
    ['IBAN', iban],
    ['card', card],
    ['PESEL', pesel],
  ] as const)('%s: a right one is masked wherever it stands', (_kind, number) => {
    fc.assert(
      fc.property(number, around, around, (value, before, after) => {
        expect(maskText(`${before}${value}${after}`)).toBe(`${before}${M}${after}`);
      }),
    );
  });

  it.each([
    ['IBAN', iban],
    ['card', card],
    ['PESEL', pesel],
  ] as const)('%s: one wrong check digit and it is another number', (_kind, number) => {
    fc.assert(
      fc.property(number, fc.integer({ min: 1, max: 9 }), (value, by) => {
        const wrong = mistaken(value, by);
        expect(maskText(wrong)).toBe(wrong);
      }),
    );
  });

  it('IBANs and cards are masked in printed groups', () => {
    const grouped = (number: string) => number.replace(/(.{4})(?=.)/g, '$1 ');
    fc.assert(fc.property(iban, (value) => expect(maskText(grouped(value))).toBe(M)));
    fc.assert(
      fc.property(digits(14), (rest) => {
        const body = `4${rest}`;
        expect(maskText(grouped(`${body}${luhnDigit(body)}`))).toBe(M);
      }),
    );
  });

  it('order numbers of up to ten digits are never masked', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 9_999_999_999n }),
        fc.constantFrom('', 'ORD-', '#', 'ZAM/2026/'),
        (n, before) => {
          expect(maskText(`${before}${n}`)).toBe(`${before}${n}`);
        },
      ),
    );
  });

  it('a PESEL needs a day that exists', () => {
    expect(isPesel('02270803624')).toBe(true);
    expect(isPesel(peselOf(new Date('2000-02-29'), '1234'))).toBe(true);
    expect(isPesel('00000000000')).toBe(false);
    expect(isPesel('99023012345')).toBe(false);
  });
});

describe('any text', () => {
  it.each([
    ['jan@example.com '],
    ['+48601234567 '],
    ['4111 1111 1111 1111 '],
    ['44051401359,'],
    ['PL61109010140000071219812874 '],
    ['411 '],
    ['+1 1 1 1 1 1 1 1 1 1 '],
    ['a@'],
    ['PL61'],
    ['1'],
  ])('of a mebibyte of %j is masked everywhere or nowhere', (piece) => {
    const text = piece.repeat(Math.floor(1_048_576 / piece.length));
    const masked = maskText(text);
    if (maskText(piece) === piece) expect(masked === text).toBe(true);
    else expect(masked === maskText(piece).repeat(Math.floor(1_048_576 / piece.length))).toBe(true);
  });

  it('keeps what is no personal data, and masking twice changes nothing', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
        const once = maskText(text);
        expect(maskText(once)).toBe(once);
        if (!/[@+]|%40|\d{2}/.test(text)) expect(once).toBe(text);
      }),
    );
  });
});
