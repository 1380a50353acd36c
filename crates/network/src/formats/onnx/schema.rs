//! Field numbers of the public schema, onnx/onnx.proto of the ONNX project.

pub(super) mod model {
    pub(crate) const IR_VERSION: u32 = 1;
    pub(crate) const PRODUCER_NAME: u32 = 2;
    pub(crate) const PRODUCER_VERSION: u32 = 3;
    pub(crate) const DOC_STRING: u32 = 6;
    pub(crate) const GRAPH: u32 = 7;
    pub(crate) const OPSET_IMPORT: u32 = 8;
    pub(crate) const METADATA_PROPS: u32 = 14;
}

pub(super) mod operator_set {
    pub(crate) const DOMAIN: u32 = 1;
    pub(crate) const VERSION: u32 = 2;
}

pub(super) mod entry {
    pub(crate) const KEY: u32 = 1;
    pub(crate) const VALUE: u32 = 2;
}

pub(super) mod graph {
    pub(crate) const NODE: u32 = 1;
    pub(crate) const NAME: u32 = 2;
    pub(crate) const INITIALIZER: u32 = 5;
    pub(crate) const INPUT: u32 = 11;
    pub(crate) const OUTPUT: u32 = 12;
}

pub(super) mod node {
    pub(crate) const INPUT: u32 = 1;
    pub(crate) const OUTPUT: u32 = 2;
    pub(crate) const NAME: u32 = 3;
    pub(crate) const OP_TYPE: u32 = 4;
    pub(crate) const ATTRIBUTE: u32 = 5;
}

pub(super) mod attribute {
    pub(crate) const NAME: u32 = 1;
    pub(crate) const F: u32 = 2;
    pub(crate) const I: u32 = 3;
    pub(crate) const INTS: u32 = 8;
    pub(crate) const TYPE: u32 = 20;

    pub(crate) const TYPE_FLOAT: u64 = 1;
    pub(crate) const TYPE_INT: u64 = 2;
    pub(crate) const TYPE_INTS: u64 = 7;
}

pub(super) mod tensor {
    pub(crate) const DIMS: u32 = 1;
    pub(crate) const DATA_TYPE: u32 = 2;
    pub(crate) const NAME: u32 = 8;
    pub(crate) const RAW_DATA: u32 = 9;

    pub(crate) const FLOAT: u64 = 1;
}

pub(super) mod value_info {
    pub(crate) const NAME: u32 = 1;
    pub(crate) const TYPE: u32 = 2;
}

pub(super) mod type_proto {
    pub(crate) const TENSOR_TYPE: u32 = 1;
    pub(crate) const ELEM_TYPE: u32 = 1;
    pub(crate) const SHAPE: u32 = 2;
}

pub(super) mod shape {
    pub(crate) const DIM: u32 = 1;
    pub(crate) const DIM_VALUE: u32 = 1;
    pub(crate) const DIM_PARAM: u32 = 2;
}
