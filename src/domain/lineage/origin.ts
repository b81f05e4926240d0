/** ColumnLineageDatasetFacet 1-2-0, `inputFields[].transformations[]`. */
export type Subtype = 'IDENTITY' | 'TRANSFORMATION' | 'AGGREGATION';

/** A column of an input of one task. */
export interface Origin {
  input: string;
  field: string;
  subtype: Subtype;
  masking?: boolean;
}
