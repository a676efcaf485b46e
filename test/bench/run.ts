/** `bun run bench`: prints figures and asserts nothing. It uses CPU time, and ratios within one run, because the machine may have other load. */
import { admin } from './admin.ts'
import { board, boardUsage } from './board/board.ts'
import { bodies } from './bodies.ts'
import { costs } from './costs.ts'
import { limits } from './limits.ts'
import { lists } from './lists.ts'
import { usage } from './options.ts'
import { overloadUsage } from './overload/options.ts'
import { overload } from './overload/overload.ts'
import { size, sizeUsage } from './size/size.ts'
import { soak, soakUsage } from './soak/soak.ts'

const others: Readonly<Record<string, (args: readonly string[]) => Promise<void>>> = {
  admin,
  board,
  bodies,
  limits,
  lists,
  overload,
  size,
  soak,
}

const usages: Readonly<Record<string, string>> = {
  ...{ board: boardUsage, overload: overloadUsage },
  ...{ size: sizeUsage, soak: soakUsage },
}

const args = process.argv.slice(2)
const [name = ''] = args
const other = others[name]
if (args.includes('--help'))
  console.log(usages[name] ?? `${usage}\nother benches: bun run bench ${Object.keys(others).join(' | ')}`)
else if (other) await other(args.slice(1))
else await costs(args)
