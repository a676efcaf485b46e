import fc from 'fast-check'
import { assetDetail, createAsset, deleteAsset, updateAsset } from './asset-steps.ts'
import type { World } from './fixture.ts'
import { createGroup, deleteGroup, groupDetail, updateGroup } from './group-steps.ts'
import { followToken, list, listTogether } from './list-steps.ts'
import type { Model } from './model.ts'
import { addFace, addStranger, behind, nobody, sendOdd } from './other-steps.ts'

/** Up to 40 things that three users, nobody, and somebody behind the gateway do. What makes something happen comes up more often. */
export const sequences = (): fc.Arbitrary<Iterable<fc.AsyncCommand<Model, World>>> =>
  fc.commands(
    [
      ...[createGroup, createGroup, createGroup, addFace, addFace, addStranger],
      ...[createAsset, createAsset, createAsset, createAsset, behind],
      ...[
        list('groups'),
        list('groups'),
        list('groups'),
        list('assets'),
        list('assets'),
        list('assets'),
        list('assets'),
      ],
      ...[listTogether, followToken, followToken, followToken, groupDetail, updateGroup, updateGroup, deleteGroup],
      ...[assetDetail, assetDetail, updateAsset, updateAsset, updateAsset, deleteAsset, deleteAsset],
      ...[sendOdd, sendOdd, nobody],
    ],
    { maxCommands: 40, size: 'max' },
  )
