import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'

/** Path of a file in `examples/operating`. */
export const operatingFile = (name: string): string => join(import.meta.dir, '../../examples/operating', name)

/** Path of an installed program. Undefined: it is not installed. */
export const findProgram = (name: string): string | undefined => {
  // Debian installs servers to /usr/sbin, which is not always in PATH.
  const path = Bun.which(name, { PATH: `${process.env.PATH}:/usr/sbin:/sbin` })
  if (path === null) return undefined
  accessSync(path, constants.X_OK)
  return path
}

/** Runs a program to its end. */
export const run = async (
  command: readonly string[],
  { cwd, env }: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
) => {
  const child = Bun.spawn([...command], {
    cwd,
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [output, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { status: await child.exited, output, errors }
}
