import { expect, test } from 'bun:test'
import { importsOf, pageScripts, type Source, sources } from './sources.ts'

/** The cycles of a graph: each as the path that leads back to its first node. */
const cyclesOf = (edges: ReadonlyMap<string, readonly string[]>): readonly string[] => {
  const done = new Set<string>()
  const cycles: string[] = []
  const visit = (node: string, path: readonly string[]): void => {
    if (path.includes(node)) cycles.push([...path.slice(path.indexOf(node)), node].join(' -> '))
    else if (!done.has(node)) {
      for (const next of edges.get(node) ?? []) visit(next, [...path, node])
      done.add(node)
    }
  }
  for (const node of edges.keys()) visit(node, [])
  return cycles
}

const cyclesIn = (modules: readonly Source[]): readonly string[] =>
  cyclesOf(new Map(modules.map((module) => [module.path, importsOf(module).map(({ to }) => to)])))

test('no module imports itself through others, not even a type', () => {
  const modules = sources('plugins', 'src').filter(({ path }) => !path.endsWith('.d.ts'))
  expect(modules.length).toBeGreaterThan(500)
  expect(cyclesIn(modules)).toEqual([])
})

test('nor does a script of the console, and none names a type of one that imports it', () => {
  const scripts = pageScripts()
  expect(scripts.length).toBeGreaterThan(100)
  expect(scripts.flatMap(importsOf).length).toBeGreaterThan(500)
  expect(cyclesIn(scripts)).toEqual([])
})

test('a cycle is found wherever it is', () => {
  const edges = new Map([
    ['a', ['b', 'c']],
    ['b', ['d']],
    ['c', ['d']],
    ['d', ['c']],
  ])
  expect(cyclesOf(edges)).toEqual(['d -> c -> d'])
})
