import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Emulator, type Fault, startEmulator } from '../../src/emulator/index.ts'
import { rest } from './client.ts'

let emulator: Emulator

beforeAll(async () => {
  emulator = await startEmulator()
})
afterAll(() => emulator.stop())

/** What the emulator says about a fault that it rejects. Undefined when it accepts the fault. */
const reasonOf = (fault: Fault): string | undefined => {
  try {
    emulator.faults.add(fault)
    return undefined
  } catch (error) {
    return error instanceof TypeError ? error.message : `${error}`
  }
}

describe('a typing error in a fault', () => {
  // `bun run types` fails when one of these lines compiles.
  test('does not compile, and throws at run time', () => {
    // @ts-expect-error: the kind is `reset-before`.
    expect(reasonOf({ kind: 'reset-befor' })).toStartWith('kind must be one of reset-before, ')
    // @ts-expect-error: the kind of an object's prototype.
    expect(reasonOf({ kind: 'constructor' })).toStartWith('kind must be one of reset-before, ')
    // @ts-expect-error: the action is `ListAssets`.
    expect(reasonOf({ kind: 'empty', action: 'ListAsset' })).toStartWith('empty applies to no action ListAsset, ')
    // @ts-expect-error: the field is `times`.
    expect(reasonOf({ kind: 'empty', time: 2 })).toBe('empty has no field time')
    // @ts-expect-error: the field is required.
    expect(reasonOf({ kind: 'delay' })).toBe('delay needs ms: a number from 0')
    // @ts-expect-error: the field is a number.
    expect(reasonOf({ kind: 'delay', ms: '5' })).toBe('delay needs ms: a number from 0')
    // @ts-expect-error: the ways are `fin`, `reset` and `clean`.
    expect(reasonOf({ kind: 'cut', how: 'close' })).toBe('cut needs how: one of fin, reset, clean')
    // @ts-expect-error: the API is `rest`, `ark`, `text` or `video`.
    expect(reasonOf({ kind: 'empty', api: 'chat' })).toBe('empty needs api: one of rest, ark, text, video')
  })

  test('in an action that calls can be counted of, or limited, does not compile', async () => {
    // @ts-expect-error: the action is `ListAssets`.
    expect(emulator.maxCallsPerSecond('ListAsset')).toBe(0)
    // @ts-expect-error: the action is `ListAssets`.
    await expect(startEmulator({ limits: { ListAsset: 1 } })).rejects.toThrow('limits: there is no action ListAsset')
  })
})

test('an action to which a fault of this kind cannot apply throws', () => {
  expect(reasonOf({ kind: 'cut', action: 'ListAssets' })).toContain('only to CreateChatCompletion, ')
  expect(reasonOf({ kind: 'foreign', action: 'GetAsset' })).toEndWith('only to ListAssetGroups, ListAssets')
  expect(reasonOf({ kind: 'empty', action: 'CreateResponse', api: 'rest' })).toContain('only to CreateAssetGroup, ')
  expect(reasonOf({ kind: 'empty', action: /^Fetch/ })).toStartWith('empty applies to no action /^Fetch/, ')
  expect(reasonOf({ kind: 'empty', probability: 2 })).toBe('empty needs probability: a number from 0 to 1')
})

test('a fault that was rejected has no effect', async () => {
  expect(emulator.faults.list()).toEqual([])
  expect((await rest(emulator, 'GET', '/assets')).status).toBe(200)
})

test('await using stops the emulator at the end of the block', async () => {
  let origin = ''
  {
    await using other = await startEmulator()
    origin = other.origin
    expect((await fetch(`${origin}/_emulator/calls`)).status).toBe(200)
  }
  await expect(fetch(`${origin}/_emulator/calls`)).rejects.toThrow()
})
