import fc from 'fast-check'
import { assetDetail, createAsset, deleteAsset, updateAsset } from './asset-steps.ts'
import { createBatch, listBatches, readBatch } from './batch-steps.ts'
import type { Fixture } from './fixture.ts'
import { createGroup, deleteGroup, groupDetail, updateGroup } from './group-steps.ts'
import { followToken, list, listTogether } from './list-steps.ts'
import type { Model } from './model.ts'
import { addFace, addForeignGroup, changeUpstream, sendMalformedTarget, sendUnauthenticated } from './other-steps.ts'

const [groups, assets] = [list('groups'), list('assets')]

const steps = [
  ...[createGroup, createGroup, createGroup, addFace, addFace, addForeignGroup],
  ...[createAsset, createAsset, createAsset, createAsset, changeUpstream],
  ...[groups, groups, groups, assets, assets, assets, assets],
  ...[listTogether, followToken, followToken, followToken, groupDetail, updateGroup, updateGroup, deleteGroup],
  ...[assetDetail, assetDetail, updateAsset, updateAsset, updateAsset, deleteAsset, deleteAsset],
  ...[sendMalformedTarget, sendMalformedTarget, sendUnauthenticated],
  ...[createBatch, readBatch, listBatches],
]

/** Each step once, for sequences that are about other steps. */
export const rareSteps = [...new Set(steps)]

/**
 * Up to 40 steps: of three users, of an unauthenticated client, and of somebody who changes the upstream directly. Steps that
 * change data are more frequent.
 */
export const sequences = (
  more: readonly StepArbitrary[] = [],
  base: readonly StepArbitrary[] = steps,
): fc.Arbitrary<Iterable<fc.AsyncCommand<Model, Fixture>>> =>
  fc.commands([...base, ...more], { maxCommands: 40, size: 'max' })

type StepArbitrary = fc.Arbitrary<fc.AsyncCommand<Model, Fixture>>
