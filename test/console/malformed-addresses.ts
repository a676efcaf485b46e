/** The page's addresses. It is JavaScript, and the page's own type check covers it. */
export const {
  addresses,
  screenAt,
}: {
  readonly addresses: Readonly<Record<string, readonly string[]>>
  screenAt(route: { readonly screen: string; readonly parts: readonly string[] }): string | undefined
} = await import(new URL('../../plugins/console/page/frame/addresses.js', import.meta.url).href)

/** All addresses of the page, with `:` for an id. */
export const patterns = Object.entries(addresses).flatMap(([screen, all]) =>
  all.map((address) => (address === '' ? screen : `${screen}/${address}`)),
)

/** What is no id, as it stands in an address. */
const malformedIds = [
  ...['%', '%E0%A4%A', '%00', '..', '.', '%2e%2E', 'a%2Fb', 'a%20b', '%0a', 'a%2Cb', '%3F', '%EF%BF%BD'],
  'a'.repeat(257),
]

/** Addresses at which there is nothing: an id is missing, malformed, or followed by something. */
export const malformedAddresses: readonly string[] = [
  ...new Set([
    ...patterns.flatMap((pattern) => {
      if (!pattern.endsWith('/:')) return [`${pattern}/nothing/else`]
      const before = pattern.slice(0, -2)
      return [before, `${before}/`, ...malformedIds.map((id) => `${before}/${id}`), `${before}/${'a'.repeat(20)}/more`]
    }),
    ...['nothing', 'nothing/at-all', 'constructor', '__proto__/x', 'Groups', 'groups/OtherType', 'invitation'],
    ...['admin/nothing', 'admin/constructor', 'tokens/nothing', 'admin/decisions/others', 'batches/new/OtherType'],
  ]),
].filter((address) => !patterns.includes(address.replace(/\/$/, '')))
