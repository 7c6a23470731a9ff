mod damage;
mod line;
mod world;
